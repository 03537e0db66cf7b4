-- Rows and keys that month $1 of scope $2 would lose if delivery $4 replaced deliveries $3. Knows ids of keys only, so a tag
-- that changed is a key lost; whoever finds a loss looks closer.
with sides as (
    select
        charge_key_id,
        sum(charges) filter (where delivery_id <> $4) as before,
        coalesce(sum(charges) filter (where delivery_id = $4), 0) as after
    from monthly_costs
    where billing_month = $1 and scope_id = $2 and (delivery_id = any($3) or delivery_id = $4)
    group by charge_key_id
)
select
    coalesce(sum(before), 0)::bigint as "rows!",
    coalesce(sum(greatest(before - after, 0)), 0)::bigint as "lost_rows!",
    count(*) filter (where after = 0) as "lost_keys!"
from sides
where before > 0
