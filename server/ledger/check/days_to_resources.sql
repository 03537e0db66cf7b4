-- Each delivery's sums by resource, and the days of the keys that they are of: as a whole, and how many days of keys differ.
with shown as (
    select delivery_id from deliveries where status in ('waiting', 'loaded', 'undone') and archived_at is null and has_resources
),
each as (
    -- What bears accelerators has hours, and is distinguished by its key.
    select false as is_part, delivery_id, billing_month, scope_id, charge_key_id, day, is_whole_period, charges, billed_cost,
        effective_cost, list_cost, contracted_cost, metered_quantity
    from daily_costs
    where hourly_quantity is null
    union all
    select true, delivery_id, billing_month, scope_id, charge_key_id, day, is_whole_period, charges, billed_cost,
        effective_cost, list_cost, contracted_cost, metered_quantity
    from daily_resources
),
summed as (
    select delivery_id, billing_month,
        coalesce(sum(billed_cost) filter (where not is_part), 0) as billed,
        coalesce(sum(billed_cost) filter (where is_part), 0) as billed_of_parts,
        coalesce(sum(effective_cost) filter (where not is_part), 0) as effective,
        coalesce(sum(effective_cost) filter (where is_part), 0) as effective_of_parts,
        sum(case when is_part then -charges else charges end) <> 0
            or sum(case when is_part then -billed_cost else billed_cost end) <> 0
            or sum(case when is_part then -effective_cost else effective_cost end) <> 0
            or sum(case when is_part then -list_cost else list_cost end) <> 0
            or sum(case when is_part then -contracted_cost else contracted_cost end) <> 0
            or sum(case when is_part then -metered_quantity else metered_quantity end) <> 0 as differs
    from each
    join shown using (delivery_id)
    group by delivery_id, billing_month, scope_id, charge_key_id, day, is_whole_period
),
compared as (
    select delivery_id, billing_month,
        sum(billed) as billed,
        sum(billed_of_parts) as billed_of_parts,
        sum(effective) as effective,
        sum(effective_of_parts) as effective_of_parts,
        count(*) filter (where differs) as others
    from summed
    group by 1, 2
)
select
    'delivery ' || delivery_id || ', ' || to_char(billing_month, 'YYYY-MM') || ', ' || side.what as of,
    side.of_days as left_side,
    side.of_resources as right_side
from compared
cross join lateral (
    values
        ('billed', billed, billed_of_parts),
        ('effective', effective, effective_of_parts),
        ('days of keys with another sum', 0, others)
) as side (what, of_days, of_resources)
order by delivery_id, billing_month, side.what
