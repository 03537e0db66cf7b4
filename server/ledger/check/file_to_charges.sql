-- Each cost of a delivery, per scope and currency: as summed while the file was read, and as stored; of an archived one, as its
-- sums by plain key have it.
with stored as (
    select
        c.delivery_id,
        c.scope_id,
        k.currency,
        sum(c.billed_cost) as billed,
        sum(c.effective_cost) as effective,
        sum(c.list_cost) as list,
        sum(c.contracted_cost) as contracted
    from full_charges c
    join charge_keys k using (charge_key_id)
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1, 2, 3
    union all
    select
        c.delivery_id,
        c.scope_id,
        k.currency,
        sum(c.billed_cost),
        sum(c.effective_cost),
        sum(c.list_cost),
        sum(c.contracted_cost)
    from monthly_totals c
    join charge_keys k using (charge_key_id)
    join deliveries d using (delivery_id)
    where d.archived_at is not null
    group by 1, 2, 3
)
select
    concat_ws(' ', 'delivery', t.delivery_id::text || ',', s.provider, s.billing_account, to_char(s.billing_month, 'YYYY-MM') || ',', side.cost, t.currency) as of,
    side.stated as left_side,
    coalesce(side.stored, 0) as right_side
from delivery_totals t
join scopes s using (scope_id)
full join stored using (delivery_id, scope_id, currency)
cross join lateral (
    values
        ('billed', coalesce(t.billed_cost, 0), stored.billed),
        ('effective', coalesce(t.effective_cost, 0), stored.effective),
        ('list', coalesce(t.list_cost, 0), stored.list),
        ('contracted', coalesce(t.contracted_cost, 0), stored.contracted)
) as side (cost, stated, stored)
order by delivery_id, scope_id, currency, side.cost
