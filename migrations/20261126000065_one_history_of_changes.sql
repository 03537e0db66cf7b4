-- Changes of the allocation, of the asset register and of the prices are one list, and what they change is kept in one way: entries
-- under keys, each content of which holds from one version of its document to another.

-- Versions of the allocation are those of the ledger.
create table documents (
    kind text primary key check (kind in ('asset-register', 'prices')),
    version bigint not null
);
insert into documents (kind, version)
select 'asset-register', revision from asset_register
union all
select 'prices', revision from price_list;

create sequence document_entry_ids;
select setval(
    'document_entry_ids',
    (
        select 1 + max(case when is_called then last_value else 0 end)
        from (select * from allocation_entry_ids union all select * from asset_register_entry_ids) before
    ),
    false
);

create table document_entries (
    kind text not null,
    entry text not null check (entry <> ''),
    from_version bigint not null,
    until_version bigint,
    content jsonb not null,
    primary key (kind, entry, from_version),
    check (until_version > from_version)
);
insert into document_entries (kind, entry, from_version, until_version, content)
select 'allocation', entry_id::text, from_sequence, until_sequence, content from allocation_entries
union all
select 'asset-register', entry_id::text, from_revision, until_revision, content from asset_register_entries
union all
select 'prices', entry, from_revision, until_revision, content from price_entries;
-- One content of an entry holds at a time.
do $$ begin execute 'create unique index document_entries_that_hold on document_entries (kind, entry) where until_version is null'; end $$;

-- Numbers of changes that were made before are those of their kind; new ones are of all.
create sequence change_ids;
select setval(
    'change_ids',
    1 + greatest(
        (select max(change_id) from allocation_changes),
        (select max(change_id) from asset_register_changes),
        (select max(change_id) from price_changes),
        0
    ),
    false
);

create table changes (
    kind text not null check (kind in ('allocation', 'asset-register', 'prices')),
    change_id bigint not null default nextval('change_ids'),
    status text not null check (status in ('draft', 'proposed', 'applied', 'undone', 'discarded')),
    -- In words, for the history.
    summary text not null,
    -- Why somebody wants it.
    reason text,
    -- Edits with what was before each; empty where something else was written, such as readings of meters.
    edits jsonb not null,
    -- What a file that was read had besides: rows, what was skipped and why, what was rejected.
    report jsonb,
    made_at timestamptz not null,
    made_by text not null,
    -- Since when it waits for whoever decides.
    proposed_at timestamptz,
    decided_at timestamptz,
    decided_by text,
    decision_reason text,
    applied_version bigint,
    undone_version bigint,
    undone_at timestamptz,
    undone_by text,
    undo_reason text,
    primary key (kind, change_id),
    unique (kind, applied_version),
    unique (kind, undone_version),
    check ((status in ('applied', 'undone')) = (applied_version is not null)),
    check ((status = 'undone') = (undone_version is not null)),
    check (undone_version > applied_version)
);
insert into changes (
    kind, change_id, status, summary, reason, edits, report, made_at, made_by, proposed_at, decided_at, decided_by,
    decision_reason, applied_version, undone_version, undone_at, undone_by, undo_reason
)
select 'allocation', change_id, case when status = 'draft' and proposed_at is not null then 'proposed' else status end,
    summary, draft_reason, edits, null::jsonb, drafted_at, drafted_by, proposed_at, decided_at, decided_by, reason,
    applied_sequence, undone_sequence, undone_at, undone_by, undo_reason
from allocation_changes
union all
select 'asset-register', change_id, status, summary, reason, edits, null::jsonb, made_at, made_by,
    case status when 'proposed' then made_at end, decided_at, decided_by, null, applied_revision, undone_revision,
    undone_at, undone_by, null
from asset_register_changes
union all
select 'prices', change_id, case status when 'drafted' then 'draft' else status end, summary, reason, edits, report,
    made_at, made_by, case status when 'proposed' then made_at end, decided_at, decided_by, null, applied_revision,
    undone_revision, undone_at, undone_by, null
from price_changes;
do $$ begin execute 'create index changes_that_wait on changes (kind) where status = ''proposed'''; end $$;

do $$ begin execute 'drop table allocation_changes'; end $$;
do $$ begin execute 'drop table allocation_entries'; end $$;
do $$ begin execute 'drop sequence allocation_entry_ids'; end $$;
do $$ begin execute 'drop table asset_register'; end $$;
do $$ begin execute 'drop table asset_register_changes'; end $$;
do $$ begin execute 'drop table asset_register_entries'; end $$;
do $$ begin execute 'drop sequence asset_register_entry_ids'; end $$;
do $$ begin execute 'drop table price_changes'; end $$;
do $$ begin execute 'drop table price_entries'; end $$;
do $$ begin execute 'drop table price_list'; end $$;
