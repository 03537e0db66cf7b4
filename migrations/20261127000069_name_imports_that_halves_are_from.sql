-- A half of a month is loaded together with the other one: which import that was taken from. Null: the file came with the import.
alter table delivery_files add column taken_from bigint references deliveries (delivery_id);
