-- Each delivery's sums by key, and those without machine and tags by month and by day: as a whole, and how many of what keys say
-- have another sum.
with keys as (
    select charge_key_id, (provider, billing_account, sub_account, service, service_category, sku, region, instance_type, meter,
        stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit, currency, is_unused_commitment) as said
    from charge_keys
),
shown as (
    select delivery_id from deliveries where status in ('waiting', 'loaded', 'undone')
),
of_keys as (
    select delivery_id, billing_month, said, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
        sum(metered_quantity) as metered
    from monthly_costs
    join shown using (delivery_id)
    join keys using (charge_key_id)
    group by 1, 2, 3
),
of_months as (
    select delivery_id, billing_month, said, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
        sum(metered_quantity) as metered
    from monthly_totals
    join shown using (delivery_id)
    join keys using (charge_key_id)
    group by 1, 2, 3
),
of_days as (
    select delivery_id, billing_month, said, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
        sum(metered_quantity) as metered
    from daily_totals
    join shown using (delivery_id)
    join keys using (charge_key_id)
    group by 1, 2, 3
),
compared as (
    select
        delivery_id,
        billing_month,
        sum(k.charges) as charges,
        sum(k.billed) as billed,
        sum(k.effective) as effective,
        sum(m.charges) as charges_of_months,
        sum(m.billed) as billed_of_months,
        sum(m.effective) as effective_of_months,
        sum(d.charges) as charges_of_days,
        sum(d.billed) as billed_of_days,
        sum(d.effective) as effective_of_days,
        count(*) filter (
            where (k.charges, k.billed, k.effective, k.list, k.contracted, k.metered)
                is distinct from (m.charges, m.billed, m.effective, m.list, m.contracted, m.metered)
        ) as other_months,
        count(*) filter (
            where (k.charges, k.billed, k.effective, k.list, k.contracted, k.metered)
                is distinct from (d.charges, d.billed, d.effective, d.list, d.contracted, d.metered)
        ) as other_days
    from of_keys k
    full join of_months m using (delivery_id, billing_month, said)
    full join of_days d using (delivery_id, billing_month, said)
    group by 1, 2
)
select
    'delivery ' || delivery_id || ', ' || to_char(billing_month, 'YYYY-MM') || ', ' || side.what as of,
    coalesce(side.of_keys, 0) as left_side,
    coalesce(side.of_plain_keys, 0) as right_side
from compared
cross join lateral (
    values
        ('charges by month', charges, charges_of_months),
        ('billed by month', billed, billed_of_months),
        ('effective by month', effective, effective_of_months),
        ('charges by day', charges, charges_of_days),
        ('billed by day', billed, billed_of_days),
        ('effective by day', effective, effective_of_days),
        ('plain keys with another sum by month', 0, other_months),
        ('plain keys with another sum by day', 0, other_days)
) as side (what, of_keys, of_plain_keys)
order by delivery_id, billing_month, side.what
