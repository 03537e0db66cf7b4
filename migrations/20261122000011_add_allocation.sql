-- Allocation: the book that people write, and the mappings that follow from it.

-- What was drafted, applied and undone: who, when and why. A draft changes nothing.
create table allocation_changes (
    change_id bigint generated always as identity primary key,
    status text not null check (status in ('draft', 'applied', 'undone', 'discarded')),
    -- In words, for the history.
    summary text not null check (summary <> ''),
    -- [{"id", "before", "after"}]: entries as they were and as they shall be.
    edits jsonb not null,
    reason text,
    drafted_at timestamptz not null,
    drafted_by text not null,
    decided_at timestamptz,
    decided_by text,
    applied_sequence bigint unique,
    undone_sequence bigint unique,
    check ((status in ('applied', 'undone')) = (applied_sequence is not null)),
    check ((status = 'undone') = (undone_sequence is not null)),
    check (undone_sequence > applied_sequence)
);

-- Entries get their numbers when they are drafted, so that a preview can speak of them.
create sequence allocation_entry_ids;

-- The book: teams, projects, cost centres, experiments, meanings of tags, rules, pools, budgets. An entry is never
-- changed: another one closes its interval, so a page that is asked as of a sequence allocates as it did then.
create table allocation_entries (
    entry_id bigint not null,
    from_sequence bigint not null,
    until_sequence bigint,
    content jsonb not null,
    primary key (entry_id, from_sequence),
    check (until_sequence > from_sequence)
);

-- One content of an entry holds at a time.
create unique index allocation_entries_that_hold on allocation_entries (entry_id) where until_sequence is null;

-- How many training runs, tokens, requests somebody had on a day: what shared costs can be divided by, and what a
-- unit costs. Kept as entries are.
create table quantities (
    quantity_id bigint generated always as identity primary key,
    owner_kind text not null check (owner_kind in ('team', 'project', 'experiment')),
    owner text not null check (owner <> ''),
    unit text not null check (unit <> ''),
    day date not null,
    quantity numeric not null check (quantity >= 0),
    from_sequence bigint not null,
    until_sequence bigint,
    check (until_sequence > from_sequence)
);

create unique index quantities_that_hold on quantities (owner_kind, owner, unit, day) where until_sequence is null;
create index quantities_by_day on quantities (day);

alter table ledger_log drop constraint ledger_log_action_check;
alter table ledger_log add constraint ledger_log_action_check
check (action in ('publish', 'undo', 'rates', 'allocation') and (delivery_id is null) = (action in ('rates', 'allocation')));

-- What a charge key can be attributed to. The id is a hash of the rest.
create table attributions (
    attribution_id uuid primary key,
    team text not null,
    project text not null,
    experiment text not null,
    cost_centre text not null,
    environment text not null,
    model_size text not null,
    workload text not null,
    interruptible text not null,
    pool text not null,
    pool_part text not null,
    rule_id bigint not null,
    check (pool = '' or team = '')
);

-- A mapping of keys to attributions. The id is a hash of everything that decides it, so it is never out of date; it
-- grows with the deliveries whose keys it covers.
create table attribution_sets (
    set_id uuid primary key,
    created_at timestamptz not null default now()
);

create table attribution_set_deliveries (
    set_id uuid not null references attribution_sets on delete cascade,
    delivery_id bigint not null,
    primary key (set_id, delivery_id)
);

create table key_attributions (
    set_id uuid not null,
    charge_key_id uuid not null,
    attribution_id uuid not null,
    primary key (set_id, charge_key_id)
);

-- How a month's pools were divided. The id is a hash of the arithmetic.
create table pool_divisions (
    division_id uuid primary key,
    arithmetic jsonb not null,
    created_at timestamptz not null default now()
);

create table pool_shares (
    division_id uuid not null references pool_divisions on delete cascade,
    pool text not null check (pool <> ''),
    pool_part text not null,
    -- Empty: nobody's.
    team text not null,
    cost_centre text not null,
    share numeric not null,
    primary key (division_id, pool, pool_part, team)
);

-- What everything is shown and weighed in, as of each step of the ledger. Null: the currency most used.
create table reporting_currencies (
    from_sequence bigint primary key,
    until_sequence bigint,
    currency text,
    check (until_sequence > from_sequence)
);

insert into reporting_currencies (from_sequence, currency) select 0, reporting_currency from organization;
drop table organization;

-- FOCUS CommitmentDiscountStatus = Unused: what was paid for and used by nobody. Part of the key, whose hash has it only
-- where it is true; keys of files that were loaded before get it when those are loaded again.
alter table charge_keys add column is_unused_commitment boolean not null default false;
