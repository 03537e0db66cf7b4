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
