-- Deliveries that newly count, from sequence $1 on, in the scopes $2 that a publish or an undo touches.
insert into visibility (scope_id, delivery_id, from_sequence)
select c.scope_id, c.delivery_id, $1
from active_in_scopes($2, null) c
where (c.scope_id, c.delivery_id) not in (
    select v.scope_id, v.delivery_id from visibility v where v.until_sequence is null and v.scope_id = any($2)
)
