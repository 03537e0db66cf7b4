-- Each delivery's monthly and daily rollup; hours of a day never exceed what was metered in it.
with months as (
    select
        m.delivery_id,
        m.billing_month,
        sum(m.charges) as charges,
        sum(m.billed_cost) as billed,
        sum(m.effective_cost) as effective,
        sum(m.metered_quantity) as metered
    from monthly_costs m
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2
),
days as (
    select
        c.delivery_id,
        c.billing_month,
        sum(c.charges) as charges,
        sum(c.billed_cost) as billed,
        sum(c.effective_cost) as effective,
        sum(c.metered_quantity) as metered
    from daily_costs c
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2
)
select
    'delivery ' || delivery_id || ', ' || to_char(billing_month, 'YYYY-MM') || ', ' || side.what as of,
    coalesce(side.months, 0) as left_side,
    coalesce(side.days, 0) as right_side
from months
full join days using (delivery_id, billing_month)
cross join lateral (
    values
        ('charges', months.charges, days.charges),
        ('billed', months.billed, days.billed),
        ('effective', months.effective, days.effective),
        ('metered quantity', months.metered, days.metered)
) as side (what, months, days)
order by delivery_id, billing_month, side.what
