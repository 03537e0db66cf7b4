-- The sums of a month ($1) as of a sequence ($2) that pages read, beside what its rollups amount to under a mapping ($3): by
-- key ($5), and by owner, day and item (the parts $4). A line for each kind: how many sums there are, and how many differ in
-- any amount.
with counting as (
    select delivery_id, scope_id
    from visibility
    where from_sequence <= $2 and (until_sequence is null or until_sequence > $2)
),
owners as (
    select ka.charge_key_id, ka.attribution_id, row (a.team, a.cost_centre, a.pool, a.pool_part) as charged, k.currency,
        k.accelerator is not null and k.category in ('Usage', 'Adjustment') and not k.is_unused_commitment as is_accelerated,
        k.pricing = 'Owned' as is_owned,
        k.is_unused_commitment or k.category = 'Purchase' and k.commitment_discount_id <> '' and k.pricing <> 'Committed'
            as is_unused,
        k.unit_seconds * k.accelerator_parts as parts,
        row (
            k.category, k.pricing, k.provider, k.billing_account, k.sub_account, k.service, k.region, k.accelerator,
            k.instance_type, k.meter, k.sku, k.unit, k.commitment_discount_id, k.is_unused_commitment
        ) as item, k.category, k.service
    from key_attributions ka
    join attributions a using (attribution_id)
    join charge_keys k using (charge_key_id)
    where ka.set_id = $3
),
keys as (
    select charge_key_id, scope_id, currency, attribution_id, charged, item, is_accelerated, is_owned, is_unused,
        case when scope_id in (select scope_id from scopes where is_usage) then category = 'Credit'
            else least(billed, effective) < 0 end as is_credit, charges, billed, effective, list, contracted, quantity,
        coalesce(quantity * parts, 0) as part_seconds
    from (
        select charge_key_id, scope_id, sum(charges) as charges, sum(billed_cost) as billed,
            sum(effective_cost) as effective, sum(list_cost) as list, sum(contracted_cost) as contracted,
            sum(metered_quantity) as quantity
        from monthly_costs
        join counting using (delivery_id, scope_id)
        where billing_month = $1
        group by 1, 2
    ) rollups
    join owners using (charge_key_id)
),
days as (
    select currency, scope_id, case when is_whole_period then category else '' end as category,
        case when is_whole_period then service else '' end as service, attribution_id, charged, item,
        is_accelerated, is_owned, is_unused, case when scope_id in (select scope_id from scopes where is_usage) then category = 'Credit'
            else least(billed_cost, effective_cost) < 0 end as is_credit, day, is_whole_period,
        charges, metered_quantity as quantity,
        billed_cost as billed, effective_cost as effective, list_cost as list, contracted_cost as contracted,
        coalesce(metered_quantity * parts, 0) as part_seconds
    from daily_costs
    join counting using (delivery_id, scope_id)
    join owners using (charge_key_id)
    where billing_month = $1
),
-- What should be counts up, what is counts down.
sides (kind, what, sign, charges, billed, effective, list, contracted, part_seconds, quantity) as (
    select 'key', row (currency, charge_key_id, scope_id)::text, 1, charges, billed, effective, list, contracted,
        part_seconds, quantity
    from keys
    union all
    select 'key', row (currency, charge_key_id, scope_id)::text, -1, charges, billed_cost, effective_cost, list_cost,
        contracted_cost, part_seconds, metered_quantity
    from keyed_costs
    where basis_id = $5
    union all
    select 'owner, by month', row (currency, attribution_id, scope_id, is_accelerated, is_owned, is_unused, is_credit)::text, 1,
        charges, billed, effective, list, contracted, part_seconds, null
    from keys
    union all
    select 'owner, by month', row (currency, attribution_id, scope_id, is_accelerated, is_owned, is_unused, is_credit)::text, -1,
        charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds, null
    from attributed_costs
    where part_id = any($4)
    union all
    select 'owner, by day', row (currency, scope_id, category, service, attribution_id, is_accelerated, is_owned, is_unused, day, is_whole_period)::text, 1, charges,
        billed, effective, list, contracted, part_seconds, null
    from days
    union all
    select 'owner, by day', row (currency, scope_id, category, service, attribution_id, is_accelerated, is_owned, is_unused, day, is_whole_period)::text, -1,
        charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds, null
    from attributed_days
    where part_id = any($4)
    union all
    select 'who is charged, by day', row (currency, scope_id, category, service, charged, is_accelerated, is_owned, is_unused, day, is_whole_period)::text, 1,
        charges, billed, effective, list, contracted, part_seconds, null
    from days
    union all
    select 'who is charged, by day',
        row (currency, scope_id, category, service, row (team, cost_centre, pool, pool_part), is_accelerated, is_owned, is_unused, day, is_whole_period)::text, -1,
        charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds, null
    from charged_days
    where part_id = any($4)
    union all
    select 'who is charged, by item', row (currency, charged, is_credit, item)::text, 1, charges, billed, effective, list,
        contracted, part_seconds, quantity
    from keys
    union all
    select 'who is charged, by item',
        row (
            currency, row (team, cost_centre, pool, pool_part), is_credit,
            row (
                category, pricing, provider, billing_account, sub_account, service, region, accelerator, instance_type,
                meter, sku, unit, commitment_discount_id, is_unused_commitment
            )
        )::text,
        -1, charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds, metered_quantity
    from item_costs
    join items using (item_id)
    where part_id = any($4)
    union all
    select 'who is charged, by item and day', row (currency, scope_id, charged, is_credit, item, day, is_whole_period)::text,
        1, charges, billed, effective, list, contracted, part_seconds, quantity
    from days
    union all
    select 'who is charged, by item and day',
        row (
            currency, scope_id, row (team, cost_centre, pool, pool_part), is_credit,
            row (
                category, pricing, provider, billing_account, sub_account, service, region, accelerator, instance_type,
                meter, sku, unit, commitment_discount_id, is_unused_commitment
            ), day, is_whole_period
        )::text,
        -1, charges, billed_cost, effective_cost, list_cost, contracted_cost, part_seconds, metered_quantity
    from item_days
    join items using (item_id)
    where part_id = any($4)
),
sums as (
    select kind, what, sum(sign * charges) as charges, sum(sign * billed) as billed, sum(sign * effective) as effective,
        sum(sign * list) as list, sum(sign * contracted) as contracted, sum(sign * part_seconds) as part_seconds,
        sum(sign * quantity) as quantity
    from sides
    group by 1, 2
)
select kind as "kind!", count(*) as "sums!", count(*) filter (
        where charges <> 0 or billed <> 0 or effective <> 0 or list <> 0 or contracted <> 0 or part_seconds <> 0
            or quantity <> 0
    ) as "that_differ!"
from sums
group by 1
order by 1
