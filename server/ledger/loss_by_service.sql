-- What each service of month $1 has in deliveries $3 of scopes $2, and of that in deliveries $5 of scopes $4. A key here is what
-- was bought, whatever its tags, on whichever machine and under whichever name of the account: those may be described anew
-- without a charge being lost.
with sides as (
    select
        charge_key_id,
        sum(before) as before,
        sum(after) as after,
        sum(billed_before) as billed_before,
        sum(billed_after) as billed_after
    from (
        select charge_key_id, charges as before, 0 as after, billed_cost as billed_before, 0 as billed_after
        from monthly_costs
        where billing_month = $1
          and delivery_id = any($3)
          and (scope_id, delivery_id) in (select * from unnest($2::bigint[], $3::bigint[]))
        union all
        select charge_key_id, 0, charges, 0, billed_cost
        from monthly_costs
        where billing_month = $1
          and delivery_id = any($5)
          and (scope_id, delivery_id) in (select * from unnest($4::bigint[], $5::bigint[]))
    ) both_sides
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
