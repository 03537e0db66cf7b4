-- Prices that people entered or imported, beside the list that comes with the program. An entry is never changed: another
-- closes its interval of revisions, so that the list as of any revision can be asked.
create table price_list (
    is_list boolean primary key default true check (is_list),
    revision bigint not null
);

insert into price_list (revision) values (0);

create table price_entries (
    -- An offer and the day it was read, or an offer that came with the program and was removed.
    entry text not null check (entry <> ''),
    from_revision bigint not null,
    until_revision bigint,
    content jsonb not null,
    primary key (entry, from_revision),
    check (until_revision > from_revision)
);

create table price_changes (
    change_id bigint generated always as identity primary key,
    status text not null check (status in ('drafted', 'proposed', 'applied', 'undone', 'discarded')),
    summary text not null,
    reason text,
    -- Edits with what was before each.
    edits jsonb not null,
    -- What a file that was read had besides: rows, what was skipped and why, what was rejected.
    report jsonb,
    made_at timestamptz not null,
    made_by text not null,
    decided_at timestamptz,
    decided_by text,
    applied_revision bigint unique,
    undone_revision bigint unique,
    undone_at timestamptz,
    undone_by text,
    check ((status in ('applied', 'undone')) = (applied_revision is not null)),
    check ((status = 'undone') = (undone_revision is not null))
);
