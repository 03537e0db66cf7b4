-- Deliveries that no longer count, from sequence $1 on, in the scopes $2 that a publish or an undo touches.
update visibility v
set until_sequence = $1
where v.until_sequence is null
  and v.scope_id = any($2)
  and (v.scope_id, v.delivery_id) not in (select c.scope_id, c.delivery_id from active_in_scopes($2, null) c)
