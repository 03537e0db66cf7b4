-- What is used of all that is active, by all that recognition asks of it.
select k.provider, k.service, k.sku, k.instance_type, k.meter, k.stated_accelerators, k.unit, k.currency, c.billing_month,
    count(distinct c.charge_key_id) as "keys!",
    sum(c.charges)::bigint as "charges!",
    sum(c.billed_cost) as "billed_cost!: Decimal",
    sum(c.metered_quantity) as "metered_quantity!: Decimal"
from visibility v
join monthly_totals c using (scope_id, delivery_id)
join charge_keys k using (charge_key_id)
where v.until_sequence is null and k.category = $1
group by 1, 2, 3, 4, 5, 6, 7, 8, 9
order by 9
