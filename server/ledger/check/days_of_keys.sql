-- The charges of each day of a key and its daily rollup: how many days agree in everything, and of those that do not the
-- first twenty of a delivery.
with charged as (
    select
        c.delivery_id,
        c.charge_key_id,
        (c.charge_period_start at time zone 'UTC')::date as day,
        c.charge_period_end - c.charge_period_start > interval '1 day' as is_whole_period,
        array[
            count(*)::numeric,
            sum(c.billed_cost),
            sum(c.effective_cost),
            sum(c.list_cost),
            sum(c.contracted_cost),
            coalesce(sum(c.consumed_quantity) filter (where c.is_metered), 0)
        ] as sums,
        sum(c.billed_cost) as billed
    from full_charges c
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded') and d.archived_at is null
    group by 1, 2, 3, 4
),
rolled as (
    select
        c.delivery_id,
        c.charge_key_id,
        c.day,
        c.is_whole_period,
        array[
            sum(c.charges),
            sum(c.billed_cost),
            sum(c.effective_cost),
            sum(c.list_cost),
            sum(c.contracted_cost),
            sum(c.metered_quantity)
        ] as sums,
        sum(c.billed_cost) as billed
    from daily_costs c
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded') and d.archived_at is null
    group by 1, 2, 3, 4
),
days as (
    select
        delivery_id,
        charge_key_id,
        day,
        charged.sums is not distinct from rolled.sums as is_same,
        coalesce(charged.billed, 0) as left_side,
        coalesce(rolled.billed, 0) as right_side
    from charged
    full join rolled using (delivery_id, charge_key_id, day, is_whole_period)
),
differing as (
    select *, row_number() over (partition by delivery_id order by day, charge_key_id) as number
    from days
    where not is_same
),
lines as (
    select
        delivery_id,
        0 as number,
        'days of keys that agree' as what,
        count(*)::numeric as left_side,
        (count(*) filter (where is_same))::numeric as right_side
    from days
    group by 1
    union all
    select delivery_id, number, concat_ws(' ', 'billed on', day::text, 'of key', charge_key_id::text), left_side, right_side
    from differing
    where number <= 20 and left_side <> right_side
)
select 'delivery ' || delivery_id || ', ' || what as of, left_side, right_side
from lines
order by delivery_id, number
