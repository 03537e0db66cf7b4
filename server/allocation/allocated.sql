-- What a month ($1) costs by its charges, and by who they are allocated to: as of a sequence ($2), by a mapping ($3) and
-- a division of pools ($4). Sides that differ would show a charge that has no owner, or two.
with counted as (
    select m.charge_key_id, sum(m.billed_cost) as billed, sum(m.effective_cost) as effective
    from monthly_costs m
    join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id
    where m.billing_month = $1 and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
    group by 1
),
charges as (
    select k.currency, sum(c.billed) as billed, sum(c.effective) as effective
    from counted c
    join charge_keys k using (charge_key_id)
    group by 1
),
attributed as (
    select k.currency, a.pool, a.pool_part, sum(c.billed) as billed, sum(c.effective) as effective
    from counted c
    join charge_keys k using (charge_key_id)
    join key_attributions ka on ka.charge_key_id = c.charge_key_id and ka.set_id = $3
    join attributions a using (attribution_id)
    group by 1, 2, 3
),
allocated as (
    select t.currency, sum(t.billed * coalesce(s.share, 1)) as billed, sum(t.effective * coalesce(s.share, 1)) as effective
    from attributed t
    left join pool_shares s
        on t.pool <> '' and s.division_id = $4 and s.pool = t.pool and s.pool_part = t.pool_part
    group by 1
)
select
    charges.currency as "currency!",
    side.cost as "cost!",
    coalesce(side.charges, 0) as "charges!: Decimal",
    coalesce(side.allocated, 0) as "allocated!: Decimal"
from charges
left join allocated using (currency)
cross join lateral (
    values ('billed', charges.billed, allocated.billed), ('effective', charges.effective, allocated.effective)
) as side (cost, charges, allocated)
order by 1, 2
