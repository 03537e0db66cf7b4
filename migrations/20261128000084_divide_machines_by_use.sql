-- What divides the charges of a bill's machines among those who used them stands beside the bill, as what adjusts it does.
do $$ begin execute 'alter table scopes add column is_usage boolean not null default false'; end $$;
-- Bills whose machines somebody is known to have used.
do $$ begin
    execute $sql$
        create table usage_bills (
            scope_id bigint primary key references scopes,
            -- A hash of what the division was computed from: the active imports of the bill and of usage.
            inputs bytea not null,
            -- Null where there was nothing to divide.
            delivery_id bigint references deliveries,
            -- Why it could not be computed, and when that is tried again where the machine failed.
            problem text,
            retry_at timestamptz,
            computed_at timestamptz not null
        )
    $sql$;
end $$;
-- As of when all bills were compared with the usage of their machines: nothing is due while that is the same.
do $$ begin
    execute $sql$
        create table usage_bills_compared (
            is_only boolean primary key default true check (is_only),
            sequence bigint not null,
            catalog bigint not null
        )
    $sql$;
end $$;
