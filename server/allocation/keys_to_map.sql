-- The keys of these deliveries ($2) that the mapping ($1) does not cover yet.
select k.charge_key_id, k.provider, k.billing_account, k.sub_account, k.service, k.service_category, k.sku, k.region,
    k.instance_type, k.meter, k.category, k.pricing, k.commitment_discount_id, k.resource_id, k.tags, k.accelerator,
    k.is_unused_commitment
from charge_keys k
where k.charge_key_id in (select m.charge_key_id from monthly_costs m where m.delivery_id = any($2))
  and not exists (
      select from key_attributions a where a.set_id = $1 and a.charge_key_id = k.charge_key_id
  )
