-- How many owners of a month ($1), as of a sequence ($2), have other costs by their keys under a mapping ($3) than in the
-- sums by day and by month ($4) that pages read; how many keys than in the sums by key ($5); and how many days than in the
-- rollups by day.
with counts as (
    select m.charge_key_id, m.scope_id, k.currency, sum(m.charges)::bigint as charges, sum(m.billed_cost) as billed,
        sum(m.effective_cost) as effective, sum(m.list_cost) as list, sum(m.contracted_cost) as contracted,
        coalesce(sum(m.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as part_seconds,
        sum(m.metered_quantity) as quantity
    from monthly_costs m
    join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id
    join charge_keys k on k.charge_key_id = m.charge_key_id
    where m.billing_month = $1 and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
    group by 1, 2, 3
),
keyed as (
    select charge_key_id, scope_id, currency, charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds,
        metered_quantity
    from keyed_costs
    where basis_id = $5
),
counted as (
    select c.currency, ka.attribution_id, sum(c.charges) as charges, sum(c.billed) as billed,
        sum(c.effective) as effective, sum(c.list) as list, sum(c.contracted) as contracted,
        sum(c.part_seconds) as part_seconds
    from counts c
    join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = $3
    group by 1, 2
),
days as (
    select currency, attribution_id, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
        sum(part_seconds) as part_seconds
    from attributed_parts
    join attributed_days using (part_id)
    where attributed_id = $4
    group by 1, 2
    having sum(charges) <> 0
),
months as (
    select currency, attribution_id, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
        sum(part_seconds) as part_seconds
    from attributed_parts
    join attributed_costs using (part_id)
    where attributed_id = $4
    group by 1, 2
    having sum(charges) <> 0
),
owners as (
    select count(*) as all_of_them,
        count(*) filter (where counted is distinct from days or counted is distinct from months) as that_differ
    from counted
    full join days using (currency, attribution_id)
    full join months using (currency, attribution_id)
),
days_counted as (
    select k.currency, d.day, d.is_whole_period, sum(d.charges) as charges, sum(d.billed_cost) as billed,
        sum(d.effective_cost) as effective
    from daily_costs d
    join visibility v on v.delivery_id = d.delivery_id and v.scope_id = d.scope_id
    join charge_keys k on k.charge_key_id = d.charge_key_id
    where d.billing_month = $1 and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
    group by 1, 2, 3
),
days_attributed as (
    select currency, day, is_whole_period, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective
    from attributed_parts
    join attributed_days using (part_id)
    where attributed_id = $4
    group by 1, 2, 3
    having sum(charges) <> 0
),
days_charged as (
    select currency, day, is_whole_period, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective
    from attributed_parts
    join charged_days using (part_id)
    where attributed_id = $4
    group by 1, 2, 3
    having sum(charges) <> 0
),
charged as (
    select currency, team, cost_centre, pool, pool_part, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective
    from attributed_parts
    join charged_days using (part_id)
    where attributed_id = $4
    group by 1, 2, 3, 4, 5
    having sum(charges) <> 0
),
charged_by_owner as (
    select currency, team, cost_centre, pool, pool_part, sum(charges) as charges, sum(billed) as billed,
        sum(effective) as effective
    from counted
    join attributions using (attribution_id)
    group by 1, 2, 3, 4, 5
),
by_day as (
    select count(*) as all_of_them, count(*) filter (
            where days_counted is distinct from days_attributed or days_counted is distinct from days_charged
        ) as that_differ
    from days_counted
    full join days_attributed using (currency, day, is_whole_period)
    full join days_charged using (currency, day, is_whole_period)
),
by_charged as (
    select count(*) filter (where charged is distinct from charged_by_owner) as that_differ
    from charged
    full join charged_by_owner using (currency, team, cost_centre, pool, pool_part)
),
keys as (
    select count(*) as all_of_them, count(*) filter (where counts is distinct from keyed) as that_differ
    from counts
    full join keyed using (charge_key_id, scope_id)
)
select owners.all_of_them as "owners!", owners.that_differ + by_charged.that_differ as "owners_that_differ!",
    keys.all_of_them as "keys!", keys.that_differ as "keys_that_differ!",
    by_day.all_of_them as "days!", by_day.that_differ as "days_that_differ!"
from owners
cross join keys
cross join by_day
cross join by_charged
