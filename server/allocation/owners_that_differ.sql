-- How many owners of a month ($1), as of a sequence ($2), have other costs by their keys under a mapping ($3) than in the
-- sums by day ($4) that pages read.
with counted as (
    select k.currency, ka.attribution_id, sum(m.charges) as charges, sum(m.billed_cost) as billed,
        sum(m.effective_cost) as effective, sum(m.list_cost) as list, sum(m.contracted_cost) as contracted,
        coalesce(sum(m.metered_quantity * (k.unit_seconds * k.accelerator_parts)), 0) as part_seconds
    from monthly_costs m
    join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id
    join charge_keys k on k.charge_key_id = m.charge_key_id
    join key_attributions ka on ka.charge_key_id = m.charge_key_id and ka.set_id = $3
    where m.billing_month = $1 and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
    group by 1, 2
),
summed as (
    select currency, attribution_id, sum(charges) as charges, sum(billed_cost) as billed,
        sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
        sum(part_seconds) as part_seconds
    from attributed_parts
    join attributed_costs using (part_id)
    where attributed_id = $4
    group by 1, 2
    having sum(charges) <> 0
)
select count(*) as "owners!", count(*) filter (where counted is distinct from summed) as "that_differ!"
from counted
full join summed using (currency, attribution_id)
