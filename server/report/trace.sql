-- The charges of row $3 in file $2 of delivery $1, with their keys and origin; with keys $4 they are found by the index of keys.
select
    d.status,
    d.format,
    d.created_at,
    d.created_by,
    c.scope_id as "scope_id!",
    c.charge_key_id as "charge_key_id!",
    f.name as file,
    c.billing_month as "billing_month!",
    c.charge_period_start as "charge_period_start!",
    c.charge_period_end as "charge_period_end!",
    c.billed_cost as "billed_cost!: Decimal",
    c.effective_cost as "effective_cost!: Decimal",
    c.contracted_cost as "contracted_cost!: Decimal",
    c.list_cost as "list_cost!: Decimal",
    c.consumed_quantity as "consumed_quantity: Decimal",
    c.is_metered as "is_metered!",
    k.provider,
    k.billing_account,
    k.sub_account,
    k.service,
    k.service_category,
    k.sku,
    k.region,
    k.instance_type,
    k.meter,
    k.category,
    k.is_correction,
    k.pricing,
    k.commitment_discount_id,
    k.unit,
    k.currency,
    k.accelerator,
    k.accelerator_parts,
    coalesce(k.resource_id, c.resource_id) as resource_id,
    -- A charge without noisy tags has no tag set.
    k.tags || coalesce(t.tags, '{}') as "tags!"
from full_charges c
join charge_keys k using (charge_key_id)
join deliveries d using (delivery_id)
join delivery_files f on f.delivery_id = c.delivery_id and f.file_no = c.file_no
left join tag_sets t using (tag_set_id)
where c.delivery_id = $1 and c.file_no = $2 and c.row_no = $3 and ($4::uuid[] is null or c.charge_key_id = any($4))
order by array_position($4, c.charge_key_id), c.charge_period_start
