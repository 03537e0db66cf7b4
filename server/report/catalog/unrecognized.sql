-- Usage that looks like an accelerator's and is none that is known: of a delivery, or of all that is active.
with stated as (
    select scope_id, delivery_id from delivery_scopes where delivery_id = $1
    union all
    select scope_id, delivery_id from visibility where until_sequence is null and $1::bigint is null
)
select k.provider, k.service, k.sku, k.instance_type, k.meter, k.stated_accelerators, k.unit, k.currency, c.billing_month,
    count(distinct c.charge_key_id) as "keys!",
    sum(c.charges)::bigint as "charges!",
    sum(c.billed_cost) as "billed_cost!: Decimal",
    sum(c.metered_quantity) as "metered_quantity!: Decimal"
from charge_keys k
join monthly_totals c using (charge_key_id)
join stated using (scope_id, delivery_id)
where k.unrecognized is not null and k.category = $2
group by 1, 2, 3, 4, 5, 6, 7, 8, 9
order by 9
