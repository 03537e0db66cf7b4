-- A key without accelerators is not told apart by resource, so what a resource cost was read from all charges of the month: half
-- a minute for four million. It is summed by day beside the key now, when a file is imported.
do $$ begin
    execute $sql$
        create table daily_resources (
            billing_month date not null,
            charge_key_id uuid not null,
            delivery_id bigint not null,
            scope_id bigint not null,
            day date not null,
            is_whole_period boolean not null,
            charges bigint not null,
            billed_cost numeric not null,
            effective_cost numeric not null,
            list_cost numeric not null,
            contracted_cost numeric not null,
            metered_quantity numeric not null,
            -- Empty: charges of the key that name none.
            resource_id text not null,
            -- As of charges: the import whose own table it is in, 0 where that is the table of the month.
            own_table bigint not null default 0
        ) partition by range (billing_month, own_table)
    $sql$;
end $$;
do $$
declare
    month record;
begin
    for month in
        select right(c.relname, 7) as suffix, to_date(right(c.relname, 7), 'YYYY_MM') as first_day
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'daily_totals'::regclass
    loop
        execute format(
            'create table %I partition of daily_resources for values from (%L, 0) to (%L, 1)',
            'daily_resources_' || month.suffix, month.first_day, month.first_day
        );
        -- No primary key, since a resource may be longer than an index holds.
        execute format('create index on %I (delivery_id)', 'daily_resources_' || month.suffix);
    end loop;
end $$;
-- What was imported before goes on to be read from its charges.
alter table deliveries add column has_resources boolean not null default false;
