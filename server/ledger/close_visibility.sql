-- Deliveries that no longer count, from sequence $1 on: in the scopes of the one that was published or undone, and
-- elsewhere where they complete one that is gone.
update visibility v
set until_sequence = $1
where v.until_sequence is null
  and (v.scope_id, v.delivery_id) not in (select scope_id, delivery_id from visible_deliveries)
