-- Of imports none of whose rows states a cost: what is summed of their usage, and what their charges hold.
with usage as (
    select u.delivery_id, sum(u.charges) as charges, sum(u.quantity) as quantity, sum(u.cost) as cost
    from usage_without_cost u
    join deliveries d using (delivery_id)
    where d.status in ('waiting', 'loaded', 'undone') and d.archived_at is null
    group by 1
),
stored as (
    select c.delivery_id, count(*) as charges, sum(coalesce(c.consumed_quantity, 0)) as quantity, sum(c.billed_cost) as cost
    from full_charges c
    where c.delivery_id in (select delivery_id from usage)
    group by 1
)
select
    'delivery ' || usage.delivery_id || ', ' || side.what as of,
    side.summed as left_side,
    side.stored as right_side
from usage
join stored using (delivery_id)
cross join lateral (values ('quantity', usage.quantity, stored.quantity), ('cost', usage.cost, stored.cost)) as side (what, summed, stored)
where usage.charges = stored.charges
order by usage.delivery_id, side.what
