-- The charges of each key and the key's monthly rollup: how many keys agree in everything, and what differs of those that
-- do not, twenty keys a delivery.
with charged as (
    select
        c.delivery_id,
        c.billing_month,
        c.charge_key_id,
        c.scope_id,
        count(*)::numeric as charges,
        sum(c.billed_cost) as billed,
        sum(c.effective_cost) as effective,
        sum(c.list_cost) as list,
        sum(c.contracted_cost) as contracted,
        coalesce(sum(c.consumed_quantity) filter (where c.is_metered), 0) as metered
    from full_charges c
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2, 3, 4
),
rolled as (
    select
        m.delivery_id,
        m.billing_month,
        m.charge_key_id,
        m.scope_id,
        sum(m.charges) as charges,
        sum(m.billed_cost) as billed,
        sum(m.effective_cost) as effective,
        sum(m.list_cost) as list,
        sum(m.contracted_cost) as contracted,
        sum(m.metered_quantity) as metered
    from monthly_costs m
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2, 3, 4
),
keys as (
    select
        delivery_id,
        billing_month,
        charge_key_id,
        array[charged.charges, charged.billed, charged.effective, charged.list, charged.contracted, charged.metered] as left_sides,
        array[rolled.charges, rolled.billed, rolled.effective, rolled.list, rolled.contracted, rolled.metered] as right_sides
    from charged
    full join rolled using (delivery_id, billing_month, charge_key_id, scope_id)
),
differing as (
    select *, row_number() over (partition by delivery_id, billing_month order by charge_key_id) as number
    from keys
    where left_sides is distinct from right_sides
),
lines as (
    select
        delivery_id,
        billing_month,
        0 as number,
        'keys that agree' as what,
        count(*)::numeric as left_side,
        (count(*) filter (where left_sides is not distinct from right_sides))::numeric as right_side
    from keys
    group by 1, 2
    union all
    select
        f.delivery_id,
        f.billing_month,
        f.number,
        concat_ws(
            ' ', side.what, 'of key', f.charge_key_id::text || ':', k.provider, k.sub_account, k.service, k.sku, k.meter,
            k.tags::text
        ),
        coalesce(f.left_sides[side.at], 0),
        coalesce(f.right_sides[side.at], 0)
    from differing f
    left join charge_keys k using (charge_key_id)
    cross join (
        values (1, 'charges'), (2, 'billed'), (3, 'effective'), (4, 'list'), (5, 'contracted'), (6, 'metered quantity')
    ) as side (at, what)
    where f.number <= 20 and f.left_sides[side.at] is distinct from f.right_sides[side.at]
)
select
    'delivery ' || delivery_id || ', ' || to_char(billing_month, 'YYYY-MM') || ', ' || what as of,
    left_side,
    right_side
from lines
order by delivery_id, billing_month, number, what
