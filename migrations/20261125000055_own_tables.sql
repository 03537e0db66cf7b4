-- A large import fills a table of its own, without an index and without the log, and attaches it when it is complete. Small
-- ones share the table of their month as before: it is attached again as it is, and what was its month is its bounds. The
-- primary key is each table's, as part of which the partition key would only make it wider.
do $$ begin
    execute 'alter table charges rename to charges_by_month';
end $$;
do $$ begin
    execute $sql$
        create table charges (
            like charges_by_month including all excluding indexes,
            -- The delivery whose own table it is in, 0 where that is the table of the month.
            own_table bigint not null default 0
        ) partition by range (billing_month, own_table)
    $sql$;
end $$;
do $$
declare
    month record;
begin
    for month in
        select i.inhrelid::regclass as partition, replace(right(c.relname, 7), '_', '-') || '-01' as first_day
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'charges_by_month'::regclass
    loop
        execute format('alter table charges_by_month detach partition %s', month.partition);
        execute format('alter table %s add column own_table bigint not null default 0', month.partition);
        execute format(
            'alter table charges attach partition %s for values from (%L, 0) to (%L, 1)',
            month.partition, month.first_day, month.first_day
        );
    end loop;
end $$;
do $$ begin
    execute 'drop table charges_by_month';
end $$;
