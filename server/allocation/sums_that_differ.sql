-- How many owners of a month ($1), as of a sequence ($2), have other costs by their keys under a mapping ($3) than in the
-- sums by day and by month ($4) that pages read; and how many keys than in the sums by key ($5).
with counts as (
    select m.charge_key_id, m.scope_id, k.currency, sum(m.charges)::bigint as charges, sum(m.billed_cost) as billed,
        sum(m.effective_cost) as effective, sum(m.list_cost) as list, sum(m.contracted_cost) as contracted,
        coalesce(sum(m.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as part_seconds
    from monthly_costs m
    join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id
    join charge_keys k on k.charge_key_id = m.charge_key_id
    where m.billing_month = $1 and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
    group by 1, 2, 3
),
keyed as (
    select charge_key_id, scope_id, currency, charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds
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
keys as (
    select count(*) as all_of_them, count(*) filter (where counts is distinct from keyed) as that_differ
    from counts
    full join keyed using (charge_key_id, scope_id)
)
select owners.all_of_them as "owners!", owners.that_differ as "owners_that_differ!",
    keys.all_of_them as "keys!", keys.that_differ as "keys_that_differ!"
from owners
cross join keys
