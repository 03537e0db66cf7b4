-- Each delivery's sums by key, and those without machine and tags, by month and by day: as a whole, and how many of what keys say
-- have another sum in a month or on a day.
with keys as (
    select charge_key_id, (provider, billing_account, sub_account, service, service_category, sku, region, instance_type, meter,
        stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit, currency, is_unused_commitment) as said
    from charge_keys
),
shown as (
    select delivery_id from deliveries where status in ('waiting', 'loaded', 'undone') and archived_at is null
),
of_keys as (
    select 'by month' as span, delivery_id, billing_month, null::date as day, false as is_whole_period, charge_key_id, charges,
        billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity
    from monthly_costs
    union all
    select 'by day', delivery_id, billing_month, day, is_whole_period, charge_key_id, charges,
        billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity
    from daily_costs
),
of_plain_keys as (
    select 'by month' as span, delivery_id, billing_month, null::date as day, false as is_whole_period, charge_key_id, charges,
        billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity
    from monthly_totals
    union all
    select 'by day', delivery_id, billing_month, day, is_whole_period, charge_key_id, charges,
        billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity
    from daily_totals
),
each as (
    select false as is_plain, * from of_keys
    union all
    select true, * from of_plain_keys
),
summed as (
    select span, delivery_id, billing_month, said, day, is_whole_period,
        coalesce(sum(charges) filter (where not is_plain), 0) as charges,
        coalesce(sum(charges) filter (where is_plain), 0) as plain_charges,
        coalesce(sum(billed_cost) filter (where not is_plain), 0) as billed,
        coalesce(sum(billed_cost) filter (where is_plain), 0) as plain_billed,
        coalesce(sum(effective_cost) filter (where not is_plain), 0) as effective,
        coalesce(sum(effective_cost) filter (where is_plain), 0) as plain_effective,
        sum(case when is_plain then -list_cost else list_cost end) <> 0
            or sum(case when is_plain then -contracted_cost else contracted_cost end) <> 0
            or sum(case when is_plain then -metered_quantity else metered_quantity end) <> 0 as is_other
    from each
    join shown using (delivery_id)
    join keys using (charge_key_id)
    group by 1, 2, 3, 4, 5, 6
),
compared as (
    select span, delivery_id, billing_month,
        sum(charges) as charges,
        sum(plain_charges) as plain_charges,
        sum(billed) as billed,
        sum(plain_billed) as plain_billed,
        sum(effective) as effective,
        sum(plain_effective) as plain_effective,
        count(*) filter (
            where is_other or (charges, billed, effective) <> (plain_charges, plain_billed, plain_effective)
        ) as others
    from summed
    group by 1, 2, 3
)
select
    'delivery ' || delivery_id || ', ' || to_char(billing_month, 'YYYY-MM') || ', ' || side.what || ' ' || span as of,
    side.of_keys as left_side,
    side.of_plain_keys as right_side
from compared
cross join lateral (
    values
        ('charges', charges, plain_charges),
        ('billed', billed, plain_billed),
        ('effective', effective, plain_effective),
        ('plain keys with another sum', 0, others)
) as side (what, of_keys, of_plain_keys)
order by delivery_id, billing_month, span, side.what
