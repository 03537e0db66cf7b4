-- A Prometheus that is asked, hour by hour, for what DCGM exporters measured.
do $$ begin
    execute $sql$
        create table prometheus_servers (
            server_id bigint generated always as identity primary key,
            -- Also the source of series without a label `cluster`.
            name text not null,
            address text not null,
            -- With the key in the data directory. Null: it is asked without a token.
            sealed_token bytea,
            -- Label matchers that its series have, as PromQL writes them between braces.
            matchers text not null,
            -- Every hour before was read.
            read_until timestamptz not null,
            -- For how many hours it is asked at once: fewer while its answers are slow or large.
            window_hours integer not null,
            -- Until when it had series of GPUs.
            seen_until timestamptz,
            -- Why it could not be read the last time, since when, and when it is tried again.
            problem text,
            failing_since timestamptz,
            retry_at timestamptz,
            created_at timestamptz not null,
            created_by text not null,
            removed_at timestamptz,
            removed_by text
        )
    $sql$;
end $$;
do $$ begin
    execute 'create unique index prometheus_servers_by_name on prometheus_servers (lower(name)) where removed_at is null';
end $$;
-- What was read of a day is an import without a file, which grows by hours.
do $$ begin
    execute $sql$
        alter table usage_imports
            alter column sha256 drop not null,
            add column server_id bigint references prometheus_servers,
            add column day date,
            -- The last version with which a server said something else of it.
            add column grown_sequence bigint
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create unique index usage_imports_by_day on usage_imports (server_id, day) where status = 'active'
    $sql$;
end $$;
-- A machine whose ResourceId is a path is known by its last part, too.
do $$ begin
    execute $sql$
        create index charge_keys_by_machine_name on charge_keys (lower(regexp_replace(resource_id, '^.*/', '')))
        where accelerator is not null and resource_id like '%/%'
    $sql$;
end $$;
