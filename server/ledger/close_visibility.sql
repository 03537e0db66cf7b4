-- Deliveries that no longer count in the scopes of $2, from sequence $1 on.
update visibility v
set until_sequence = $1
where v.until_sequence is null
  and v.scope_id in (select scope_id from delivery_scopes where delivery_id = $2)
  and (v.scope_id, v.delivery_id) not in (
      select scope_id, delivery_id
      from visible_deliveries
      where scope_id in (select scope_id from delivery_scopes where delivery_id = $2)
  )
