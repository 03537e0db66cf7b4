-- Background work. A job is claimed by one worker, says how far it is, and keeps what came of it.
create table jobs (
    job_id bigint generated always as identity primary key,
    batch_id uuid not null unique,
    status text not null default 'queued' check (status in ('queued', 'running', 'done', 'failed')),
    -- The files of an import: [{"name", "path"}].
    files jsonb not null,
    total_bytes bigint not null,
    rows_read bigint not null default 0,
    -- What `gpuledger import --json` prints.
    result jsonb,
    message text,
    attempts integer not null default 0,
    created_at timestamptz not null,
    created_by text not null,
    started_at timestamptz,
    finished_at timestamptz
);

create index jobs_waiting on jobs (job_id) where status in ('queued', 'running');
