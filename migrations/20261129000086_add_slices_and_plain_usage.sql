-- A pod that held a slice of an accelerator: its MIG profile, as `3g.40gb`.
do $$ begin
    execute 'alter table job_descriptions add column profile text not null default ''''';
end $$;
-- Usage as plain CSV.
do $$ begin
    execute 'alter table usage_sources drop constraint usage_sources_kind_check';
end $$;
do $$ begin
    execute $sql$
        alter table usage_sources add constraint usage_sources_kind_check
            check (kind in ('slurm', 'prometheus', 'nvidia-smi', 'openshift', 'opencost', 'csv'))
    $sql$;
end $$;
-- Of two lists the sums of their elements, up to the hours of 512 accelerators.
do $$ begin
    execute $sql$
        create function added(known integer[], other integer[])
        returns integer[] language sql immutable as $body$
            select array_agg(least(a::bigint + b, 512 * 3600000)::integer order by place)
            from unnest(known, other) with ordinality as pair (a, b, place)
        $body$
    $sql$;
end $$;
