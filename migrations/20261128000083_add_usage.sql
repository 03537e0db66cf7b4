-- What says who used accelerators: a cluster of a scheduler.
do $$ begin
    execute $sql$
        create table usage_sources (
            source_id bigint generated always as identity primary key,
            kind text not null check (kind in ('slurm', 'prometheus', 'nvidia-smi', 'openshift', 'opencost')),
            -- As its exports call it.
            name text not null,
            -- Where its clocks stand, for times without an offset.
            time_zone text not null,
            created_at timestamptz not null,
            created_by text not null,
            unique (kind, name)
        )
    $sql$;
end $$;
-- A file of usage. It counts from a version of the ledger until another.
do $$ begin
    execute $sql$
        create table usage_imports (
            import_id bigint generated always as identity primary key,
            batch_id uuid not null,
            format text not null,
            file_name text not null,
            sha256 bytea not null,
            status text not null check (status in ('loading', 'active', 'undone', 'refused')),
            rows_read bigint not null default 0,
            jobs bigint not null default 0,
            -- Rows or series of a meter.
            samples bigint not null default 0,
            rejected bigint not null default 0,
            skipped bigint not null default 0,
            -- Of its jobs, in accelerator-hours, whether or not another import says the same.
            accelerator_hours numeric not null default 0,
            -- Jobs that it does not say the time of.
            jobs_without_time bigint not null default 0,
            first_at timestamptz,
            last_at timestamptz,
            message text,
            imported_at timestamptz not null,
            imported_by text not null,
            undone_at timestamptz,
            undone_by text,
            from_sequence bigint,
            until_sequence bigint
        )
    $sql$;
end $$;
do $$ begin execute 'create index usage_imports_by_content on usage_imports (sha256)'; end $$;
do $$ begin
    execute $sql$
        create table usage_rejections (
            import_id bigint not null references usage_imports,
            row_no bigint not null,
            column_name text not null,
            found text not null,
            expected text not null,
            primary key (import_id, row_no)
        )
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create table usage_skips (
            import_id bigint not null references usage_imports,
            reason text not null,
            row_count bigint not null,
            primary key (import_id, reason)
        )
    $sql$;
end $$;
-- The time of which an import says everything of a source: an hour in it that no job held was held by nobody; any other is not known.
do $$ begin
    execute $sql$
        create table usage_coverage (
            import_id bigint not null references usage_imports,
            source_id bigint not null references usage_sources,
            begins_at timestamptz not null,
            ends_at timestamptz not null,
            primary key (import_id, source_id)
        )
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create table usage_nodes (
            node_id bigint generated always as identity primary key,
            source_id bigint not null references usage_sources,
            name text not null,
            unique (source_id, name)
        )
    $sql$;
end $$;
-- Which resource of the ledger a node is, where its name does not say so, or says it wrongly.
do $$ begin
    execute $sql$
        create table node_matches (
            node_id bigint not null references usage_nodes,
            -- Empty: none.
            resource_id text not null,
            from_sequence bigint not null,
            until_sequence bigint,
            matched_at timestamptz not null,
            matched_by text not null,
            primary key (node_id, from_sequence)
        )
    $sql$;
end $$;
do $$ begin
    execute 'create index charge_keys_by_machine on charge_keys (lower(resource_id)) where accelerator is not null';
end $$;
-- A job: one row however many imports describe it.
do $$ begin
    execute $sql$
        create table jobs_seen (
            job_no bigint generated always as identity primary key,
            source_id bigint not null references usage_sources,
            key text not null,
            unique (source_id, key)
        )
    $sql$;
end $$;
-- What an import says of a job. Of several, the one that knows most holds.
do $$ begin
    execute $sql$
        create table job_descriptions (
            job_no bigint not null references jobs_seen,
            import_id bigint not null references usage_imports,
            job_id text not null,
            name text not null,
            user_name text not null,
            account text not null,
            project text not null,
            queue text not null,
            qos text not null,
            comment text not null,
            namespace text not null,
            state text not null,
            is_over boolean not null,
            model text not null,
            submitted_at timestamptz,
            started_at timestamptz,
            ended_at timestamptz,
            -- From its start it held its accelerators until then, but for the time that it was suspended.
            held_until timestamptz,
            held_seconds bigint not null,
            -- In thousandths, on all nodes; and on each, with how much of the time they worked in hundredths of a percent.
            accelerators bigint not null,
            nodes bigint[] not null,
            node_accelerators bigint[] not null,
            node_utilization integer[] not null,
            -- A pod, of which meters say what it held, hour by hour.
            is_metered boolean not null default false,
            primary key (job_no, import_id)
        )
    $sql$;
end $$;
do $$ begin execute 'create index job_descriptions_by_import on job_descriptions (import_id)'; end $$;
do $$ begin execute 'create index job_descriptions_by_time on job_descriptions (held_until, started_at)'; end $$;
-- What an import of a meter says of a device on a day, in milliseconds by the hour.
do $$ begin
    execute $sql$
        create table meter_days (
            import_id bigint not null references usage_imports,
            day date not null,
            node_id bigint not null,
            device text not null,
            slice text not null,
            -- The pod that held it; 0 where nobody did, -1 where a job of Slurm.
            job_no bigint not null,
            profile text not null,
            model text not null,
            present integer[] not null,
            measured integer[] not null,
            busy integer[] not null,
            tensor_measured integer[] not null,
            tensor integer[] not null,
            memory_mib_seconds bigint not null,
            memory_seconds bigint not null,
            joules bigint not null,
            primary key (import_id, day, node_id, device, slice, job_no)
        )
    $sql$;
end $$;
do $$ begin execute 'create index meter_days_by_node on meter_days (node_id, day)'; end $$;
-- Of two lists the elements of the one whose measure is longer there.
do $$ begin
    execute $sql$
        create function longest(known integer[], other integer[], of_known integer[], of_other integer[])
        returns integer[] language sql immutable as $body$
            select array_agg(case when o > k then b else a end order by place)
            from unnest(known, other, of_known, of_other) with ordinality as pair (k, o, a, b, place)
        $body$
    $sql$;
end $$;
-- What a job held on a node on a day, hour by hour, and how much of it worked.
do $$ begin
    execute $sql$
        create table usage_days (
            day date not null,
            node_id bigint not null,
            job_no bigint not null,
            -- Accelerator-milliseconds of each hour of the day (UTC): held; of these measured; and at work.
            held integer[] not null,
            measured integer[] not null,
            busy integer[] not null,
            from_sequence bigint not null,
            until_sequence bigint,
            primary key (day, node_id, job_no, from_sequence)
        )
    $sql$;
end $$;
do $$ begin execute 'create index usage_days_by_job on usage_days (job_no)'; end $$;
do $$ begin
    execute 'alter table ledger_log drop constraint ledger_log_action_check';
end $$;
do $$ begin
    execute $sql$
        alter table ledger_log add constraint ledger_log_action_check check (
            action in ('publish', 'undo', 'rates', 'allocation', 'usage')
            and (delivery_id is null) = (action in ('rates', 'allocation', 'usage'))
        )
    $sql$;
end $$;
