-- Of which sources an import of usage says something, and until when. Found in its jobs it would take seconds.
do $$ begin
    execute $sql$
        create table usage_import_sources (
            import_id bigint not null references usage_imports,
            source_id bigint not null references usage_sources,
            last_at timestamptz not null,
            primary key (import_id, source_id)
        )
    $sql$;
end $$;
insert into usage_import_sources (import_id, source_id, last_at)
select d.import_id, j.source_id, max(d.held_until)
from job_descriptions d
join jobs_seen j using (job_no)
where d.held_until is not null
group by 1, 2;
-- Few jobs held slices of accelerators, and pages of clusters look for them.
do $$ begin
    execute $sql$ create index job_descriptions_in_slices on job_descriptions (job_no) where profile <> '' $sql$;
end $$;
