-- Of how much of a job's time it was measured how busy the accelerators of each node were, in ten-thousandths; of none: of all of it.
do $$ begin
    execute 'alter table job_descriptions add column node_measured integer[] not null default ''{}''';
end $$;
-- Of two lists the sums of their elements, up to the hours of so many accelerators.
do $$ begin
    execute $sql$
        create function added(known integer[], other integer[], most integer)
        returns integer[] language sql immutable as $body$
            select array_agg(least(a::bigint + b, most::bigint * 3600000)::integer order by place)
            from unnest(known, other) with ordinality as pair (a, b, place)
        $body$
    $sql$;
end $$;
-- Of a list what it has outside of these hours, counted from 0.
do $$ begin
    execute $sql$
        create function outside(known integer[], hours integer[])
        returns integer[] language sql immutable as $body$
            select array_agg(case when place - 1 = any(hours) then 0 else a end order by place)
            from unnest(known) with ordinality as element (a, place)
        $body$
    $sql$;
end $$;
-- A meter names a job of Slurm by its number alone.
do $$ begin execute 'create index jobs_seen_by_number on jobs_seen (split_part(key, ''@'', 1))'; end $$;
-- How the columns of CSV files of usage are called that have other names than the usual ones: by what each is, its name.
do $$ begin
    execute $sql$
        create table usage_mappings (
            mapping_id bigint generated always as identity primary key,
            name text not null,
            columns jsonb not null,
            saved_at timestamptz not null,
            saved_by text not null,
            removed_at timestamptz,
            removed_by text
        )
    $sql$;
end $$;
do $$ begin
    execute 'create unique index usage_mappings_by_name on usage_mappings (lower(name)) where removed_at is null';
end $$;
