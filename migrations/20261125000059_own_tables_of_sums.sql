-- A large import has tables of its own for its sums, too, as it has for its charges: they are written once, without an index and
-- without the log, and what is removed with its table leaves no gaps. Months are attached again as they are.
do $$ begin
    execute 'alter table monthly_costs rename to monthly_costs_by_month';
end $$;
do $$ begin
    execute 'alter table daily_costs rename to daily_costs_by_month';
end $$;
do $$ begin
    execute $sql$
        create table monthly_costs (
            like monthly_costs_by_month including all excluding indexes,
            own_table bigint not null default 0
        ) partition by range (billing_month, own_table)
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create table daily_costs (
            like daily_costs_by_month including all excluding indexes,
            own_table bigint not null default 0
        ) partition by range (billing_month, own_table)
    $sql$;
end $$;
do $$
declare
    month record;
    kind text;
begin
    foreach kind in array array['monthly_costs', 'daily_costs'] loop
        for month in
            select i.inhrelid::regclass as partition, replace(right(c.relname, 7), '_', '-') || '-01' as first_day
            from pg_inherits i
            join pg_class c on c.oid = i.inhrelid
            where i.inhparent = (kind || '_by_month')::regclass
        loop
            execute format('alter table %I detach partition %s', kind || '_by_month', month.partition);
            execute format('alter table %s add column own_table bigint not null default 0', month.partition);
            execute format(
                'alter table %I attach partition %s for values from (%L, 0) to (%L, 1)',
                kind, month.partition, month.first_day, month.first_day
            );
        end loop;
    end loop;
end $$;
do $$ begin
    execute 'drop table monthly_costs_by_month';
end $$;
do $$ begin
    execute 'drop table daily_costs_by_month';
end $$;
-- What belongs to no day: a few rows among those of every day. The tables of months have it already.
do $$ begin
    execute 'create index daily_costs_of_whole_periods on daily_costs (scope_id, delivery_id) where is_whole_period';
end $$;
