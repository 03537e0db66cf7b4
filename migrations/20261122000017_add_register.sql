-- What organizations write down about their own hardware, and what was read from its meters. An entry is never changed:
-- another closes its interval of revisions. A revision is no step of the ledger: nothing counts until a month that was
-- reckoned from it is published, which is a delivery like any other.
create table register (
    is_register boolean primary key default true check (is_register),
    revision bigint not null
);

insert into register (revision) values (0);

create sequence register_entry_ids;

create table register_entries (
    entry_id bigint not null,
    from_revision bigint not null,
    until_revision bigint,
    content jsonb not null,
    primary key (entry_id, from_revision),
    check (until_revision > from_revision)
);

create table register_changes (
    change_id bigint generated always as identity primary key,
    status text not null check (status in ('proposed', 'applied', 'undone', 'discarded')),
    summary text not null,
    reason text,
    -- Edits with what was before each; empty where meters were read.
    edits jsonb not null,
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

create table meter_readings (
    -- The number of the meter's entry.
    meter_id bigint not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    kwh numeric not null,
    from_revision bigint not null,
    until_revision bigint,
    primary key (meter_id, starts_at, from_revision),
    check (ends_at > starts_at),
    check (until_revision > from_revision)
);

-- Files that were made of a cluster's month: by its bytes a delivery says which revision it was reckoned from.
create table cluster_months (
    sha256 bytea not null check (length(sha256) = 32),
    cluster text not null,
    billing_month date not null,
    revision bigint not null,
    -- With which it was handed in.
    batch_id uuid not null,
    made_at timestamptz not null,
    made_by text not null,
    primary key (sha256, revision)
);

-- What whoever handed files in has decided already.
alter table jobs add column decision text check (decision in ('replace', 'add'));
