-- Deliveries that newly count, from sequence $1 on.
insert into visibility (scope_id, delivery_id, from_sequence)
select scope_id, delivery_id, $1
from visible_deliveries
where (scope_id, delivery_id) not in (
    select scope_id, delivery_id from visibility where until_sequence is null
)
