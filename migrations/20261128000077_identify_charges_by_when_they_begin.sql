-- A row may be several charges of one key: what a machine cost on each day. They begin at different times. Tables of large imports keep
-- their indexes: none of them holds such rows.
do $$
declare
    month record;
begin
    for month in
        select c.conname as key, c.conrelid::regclass as partition
        from pg_inherits i
        join pg_constraint c on c.conrelid = i.inhrelid and c.contype = 'p'
        where i.inhparent = 'charges'::regclass
    loop
        execute format(
            'alter table %s drop constraint %I, add primary key (delivery_id, charge_key_id, file_no, row_no, charge_period_start)',
            month.partition, month.key
        );
    end loop;
end $$;
