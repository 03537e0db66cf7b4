-- Whether the days of delivery $1, by what their keys say without machine and tags, are not those of its sums by plain key.
with keys as (
    select charge_key_id, (provider, billing_account, sub_account, service, service_category, sku, region, instance_type, meter,
        stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit, currency, is_unused_commitment) as said
    from charge_keys
),
each as (
    select 1 as sign, billing_month, charge_key_id, scope_id, day, is_whole_period, charges, billed_cost, effective_cost, list_cost,
        contracted_cost, metered_quantity
    from daily_costs
    where delivery_id = $1
    union all
    select -1, billing_month, charge_key_id, scope_id, day, is_whole_period, charges, billed_cost, effective_cost, list_cost,
        contracted_cost, metered_quantity
    from daily_totals
    where delivery_id = $1
)
select exists (
    select
    from each
    join keys using (charge_key_id)
    group by billing_month, said, scope_id, day, is_whole_period
    having (
        sum(sign * charges), sum(sign * billed_cost), sum(sign * effective_cost), sum(sign * list_cost),
        sum(sign * contracted_cost), sum(sign * metered_quantity)
    ) <> (0, 0, 0, 0, 0, 0)
) as "differs!"
