-- Each delivery's charges and their monthly rollup: number, four costs, metered quantity.
with charged as (
    select
        c.delivery_id,
        c.billing_month,
        count(*) as charges,
        sum(c.billed_cost) as billed,
        sum(c.effective_cost) as effective,
        sum(c.list_cost) as list,
        sum(c.contracted_cost) as contracted,
        coalesce(sum(c.consumed_quantity) filter (where c.is_metered), 0) as metered
    from full_charges c
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2
),
rolled as (
    select
        m.delivery_id,
        m.billing_month,
        sum(m.charges) as charges,
        sum(m.billed_cost) as billed,
        sum(m.effective_cost) as effective,
        sum(m.list_cost) as list,
        sum(m.contracted_cost) as contracted,
        sum(m.metered_quantity) as metered
    from monthly_costs m
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2
)
select
    'delivery ' || delivery_id || ', ' || to_char(billing_month, 'YYYY-MM') || ', ' || side.what as of,
    coalesce(side.charged, 0) as left_side,
    coalesce(side.rolled, 0) as right_side
from charged
full join rolled using (delivery_id, billing_month)
cross join lateral (
    values
        ('charges', charged.charges::numeric, rolled.charges),
        ('billed', charged.billed, rolled.billed),
        ('effective', charged.effective, rolled.effective),
        ('list', charged.list, rolled.list),
        ('contracted', charged.contracted, rolled.contracted),
        ('metered quantity', charged.metered, rolled.metered)
) as side (what, charged, rolled)
order by delivery_id, billing_month, side.what
