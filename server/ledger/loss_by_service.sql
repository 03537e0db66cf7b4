-- What each service of month $1 of scope $2 would lose if delivery $4 replaced deliveries $3. A key here is what was bought,
-- whatever its tags and on whichever machine: those may be described anew without a charge being lost.
with sides as (
    select
        charge_key_id,
        coalesce(sum(charges) filter (where delivery_id <> $4), 0) as before,
        coalesce(sum(charges) filter (where delivery_id = $4), 0) as after,
        coalesce(sum(billed_cost) filter (where delivery_id <> $4), 0) as billed_before,
        coalesce(sum(billed_cost) filter (where delivery_id = $4), 0) as billed_after
    from monthly_costs
    where billing_month = $1 and scope_id = $2 and (delivery_id = any($3) or delivery_id = $4)
    group by charge_key_id
),
named as (
    select
        k.service,
        k.currency,
        k.resource_id,
        dense_rank() over (
            order by k.service, k.currency, k.sub_account, k.service_category, k.sku, k.region, k.instance_type, k.meter,
                k.category, k.is_correction, k.pricing, k.commitment_discount_id, k.unit
        ) as bought,
        before, after, billed_before, billed_after
    from sides
    join charge_keys k using (charge_key_id)
),
keys as (
    select
        service,
        currency,
        sum(before) as before,
        sum(after) as after,
        sum(billed_before) as billed_before,
        sum(billed_after) as billed_after
    from named
    group by service, currency, bought
),
resources as (
    select service, currency, count(*) filter (where before > 0) as resources, count(*) filter (where before > 0 and after = 0) as lost_resources,
        count(*) filter (where before = 0) as new_resources
    from (
        select service, currency, resource_id, sum(before) as before, sum(after) as after
        from named
        where resource_id is not null
        group by 1, 2, 3
    ) of_resource
    group by 1, 2
)
select
    keys.service,
    keys.currency,
    sum(before)::bigint as "rows!",
    sum(greatest(before - after, 0))::bigint as "lost_rows!",
    sum(after)::bigint as "rows_after!",
    count(*) filter (where before > 0) as "keys!",
    count(*) filter (where before > 0 and after = 0) as "lost_keys!",
    coalesce(max(resources), 0) as "resources!",
    coalesce(max(lost_resources), 0) as "lost_resources!",
    coalesce(max(new_resources), 0) as "new_resources!",
    sum(billed_before) as "billed_before!: Decimal",
    sum(billed_after) as "billed_after!: Decimal"
from keys
left join resources using (service, currency)
group by keys.service, keys.currency
order by sum(billed_before - billed_after) desc, keys.service, keys.currency
