-- Deliveries that would be active together in a scope for the first time, if delivery $1 were published ($2: replace, add) or
-- undone (undo). The first of each pair becomes active by that.
with after as (
    select c.scope_id, c.delivery_id
    from active_if_replaced_by($1) c
    where $2 = 'replace'
    union
    select own.scope_id, own.delivery_id
    from delivery_scopes own
    where own.delivery_id = $1 and $2 = 'add'
    union
    select v.scope_id, v.delivery_id
    from delivery_scopes own
    join visibility v on v.scope_id = own.scope_id and v.until_sequence is null
    where own.delivery_id = $1 and $2 = 'add'
    union
    select c.scope_id, c.delivery_id
    from active_in_scopes(array(select t.scope_id from touched_scopes($1) t), $1) c
    where $2 = 'undo'
),
opened as (
    select a.scope_id, a.delivery_id
    from after a
    where not exists (
        select
        from visibility v
        where v.scope_id = a.scope_id and v.delivery_id = a.delivery_id and v.until_sequence is null
    )
)
select distinct o.delivery_id as "opened!", a.delivery_id as "other!"
from opened o
join after a on a.scope_id = o.scope_id and a.delivery_id <> o.delivery_id
where not exists (
    select
    from visibility once
    join visibility beside on beside.scope_id = once.scope_id
    where once.scope_id = o.scope_id
      and once.delivery_id = o.delivery_id
      and beside.delivery_id = a.delivery_id
      and once.from_sequence < coalesce(beside.until_sequence, 9223372036854775807)
      and beside.from_sequence < coalesce(once.until_sequence, 9223372036854775807)
)
