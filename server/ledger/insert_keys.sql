-- Keys not known yet. Two imports may meet the same key: the second one's is the same row.
insert into charge_keys (
    charge_key_id, provider, billing_account, sub_account, service, service_category, sku, region,
    instance_type, meter, stated_accelerators, category, is_correction, pricing, commitment_discount_id,
    unit, currency, resource_id, tags, accelerator, accelerator_parts, unit_seconds, is_unused_commitment, catalog_version
)
select *, $24::bigint
from unnest(
    $1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[], $13::bool[], $14::text[], $15::text[],
    $16::text[], $17::text[], $18::text[], $19::jsonb[], $20::text[], $21::bigint[], $22::integer[],
    $23::bool[]
)
on conflict do nothing
