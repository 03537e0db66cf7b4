-- Rows and keys of month $1 in deliveries $3 of scopes $2 that are not in deliveries $5 of scopes $4. Knows ids of keys only, so
-- a tag that changed is a key lost; whoever finds a loss looks closer.
with sides as (
    select charge_key_id, sum(before) as before, sum(after) as after
    from (
        select charge_key_id, charges as before, 0 as after
        from monthly_costs
        where billing_month = $1
          and delivery_id = any($3)
          and (scope_id, delivery_id) in (select * from unnest($2::bigint[], $3::bigint[]))
        union all
        select charge_key_id, 0, charges
        from monthly_costs
        where billing_month = $1
          and delivery_id = any($5)
          and (scope_id, delivery_id) in (select * from unnest($4::bigint[], $5::bigint[]))
    ) both_sides
    group by charge_key_id
)
select
    coalesce(sum(before), 0)::bigint as "rows!",
    coalesce(sum(greatest(before - after, 0)), 0)::bigint as "lost_rows!",
    count(*) filter (where after = 0) as "lost_keys!"
from sides
where before > 0
