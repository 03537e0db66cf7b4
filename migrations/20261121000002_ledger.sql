-- The ledger: originals, deliveries, scopes, charge keys, charges and their rollups.
--
-- Charges and rollups keep the few rules that let the schema be distributed: `charge_key_id` is the
-- distribution column and part of every primary key, no foreign key leaves them, no trigger sits on them.

-- Files as they arrived, content-addressed. The bytes lie in the data directory.
create table originals (
    sha256 bytea primary key check (length(sha256) = 32),
    received_bytes bigint not null,
    content_bytes bigint not null,
    content_rows bigint not null,
    stored_at timestamptz not null
);

-- What states a billing period: one file, or the files that belong together. Published once, undone at most once.
create table deliveries (
    delivery_id bigint generated always as identity primary key,
    batch_id uuid not null,
    status text not null check (status in ('loading', 'waiting', 'loaded', 'undone', 'refused', 'failed')),
    format text,
    message text,
    noisy_tags text[] not null default '{}',
    unknown_columns text[] not null default '{}',
    absent_columns text[] not null default '{}',
    notes text[] not null default '{}',
    catalog_version bigint,
    rows_read bigint not null default 0,
    charges bigint not null default 0,
    rejected bigint not null default 0,
    skipped bigint not null default 0,
    created_at timestamptz not null,
    created_by text not null,
    published_sequence bigint unique,
    undone_sequence bigint unique,
    check (status not in ('loaded', 'undone') or published_sequence is not null),
    check ((status = 'undone') = (undone_sequence is not null)),
    check (undone_sequence > published_sequence)
);

create index deliveries_by_batch on deliveries (batch_id);

create table delivery_files (
    delivery_id bigint not null references deliveries on delete cascade,
    file_no smallint not null,
    name text not null,
    -- Null where the file was refused and not kept.
    sha256 bytea check (length(sha256) = 32),
    rows_read bigint not null default 0,
    primary key (delivery_id, file_no)
);

create index delivery_files_by_sha256 on delivery_files (sha256);

-- Who is billed for which month. A later delivery of a scope replaces the earlier one.
create table scopes (
    scope_id bigint generated always as identity primary key,
    provider text not null,
    billing_account text not null,
    billing_month date not null check (extract(day from billing_month) = 1),
    unique (billing_month, provider, billing_account)
);

-- What a delivery states about a scope: how it adds up, and what it covers.
create table delivery_scopes (
    delivery_id bigint not null references deliveries on delete cascade,
    scope_id bigint not null references scopes,
    is_addition boolean not null default false,
    -- Null states the whole month. A slice (one of Oracle's files) adds to the others and is replaced only
    -- by the same slice, or by a delivery of the whole month.
    slice text,
    sub_accounts text[] not null,
    days date[] not null,
    charges bigint not null,
    -- True while a charge of the scope has no invoice yet.
    is_provisional boolean not null,
    primary key (delivery_id, scope_id)
);

create index delivery_scopes_by_scope on delivery_scopes (scope_id, delivery_id);

-- The sums that the file itself states, per scope and currency: the left side of every later equation.
create table delivery_totals (
    delivery_id bigint not null references deliveries on delete cascade,
    scope_id bigint not null references scopes,
    currency text not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    charges bigint not null,
    primary key (delivery_id, scope_id, currency)
);

create table rejections (
    delivery_id bigint not null references deliveries on delete cascade,
    file_no smallint not null,
    row_no bigint not null,
    column_name text not null,
    found text not null,
    expected text not null,
    primary key (delivery_id, file_no, row_no)
);

create table skips (
    delivery_id bigint not null references deliveries on delete cascade,
    reason text not null,
    skipped_rows bigint not null,
    primary key (delivery_id, reason)
);

-- Each publish and each undo advances the ledger by one.
create table ledger (
    is_ledger boolean primary key default true check (is_ledger),
    sequence bigint not null
);

insert into ledger (sequence) values (0);

create table ledger_log (
    sequence bigint primary key,
    delivery_id bigint not null references deliveries,
    action text not null check (action in ('publish', 'undo')),
    happened_at timestamptz not null,
    happened_by text not null
);

-- From which sequence to which a delivery counts for a scope. Open intervals are what is counted now.
create table visibility (
    scope_id bigint not null references scopes,
    delivery_id bigint not null references deliveries,
    from_sequence bigint not null,
    until_sequence bigint,
    primary key (scope_id, delivery_id, from_sequence),
    check (until_sequence > from_sequence)
);

create index visibility_by_delivery on visibility (delivery_id);

-- The distinct combinations of everything that pages group and filter by. The id is a hash of the
-- canonical key, so that loading needs no look-up and two loads agree without asking each other.
create table charge_keys (
    charge_key_id uuid primary key,
    provider text not null,
    billing_account text not null,
    sub_account text not null,
    service text not null,
    service_category text not null,
    sku text not null,
    region text not null,
    instance_type text not null,
    meter text not null,
    stated_accelerators text not null,
    category text not null,
    is_correction boolean not null,
    pricing text not null,
    commitment_discount_id text not null,
    unit text not null,
    currency text not null,
    -- Only on keys that bear accelerators; elsewhere the resource is on the charge.
    resource_id text,
    tags jsonb not null,
    -- Which accelerator one unit of the metered quantity pays for, by the catalogue. Null: none.
    accelerator text,
    -- In parts of one accelerator, so that a seventh of a GPU is exact.
    accelerator_parts bigint,
    -- Seconds in one unit of quantity where the unit is one of time.
    unit_seconds integer,
    catalog_version bigint not null
);

create index charge_keys_by_catalog on charge_keys (catalog_version);

-- Tags too various for the key, kept with the charge.
create table tag_sets (
    tag_set_id uuid primary key,
    tags jsonb not null
);

create table charges (
    billing_month date not null,
    charge_key_id uuid not null,
    delivery_id bigint not null,
    scope_id bigint not null,
    row_no bigint not null,
    file_no smallint not null,
    is_metered boolean not null,
    charge_period_start timestamptz not null,
    charge_period_end timestamptz not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    consumed_quantity numeric,
    resource_id text,
    tag_set_id uuid,
    primary key (delivery_id, charge_key_id, file_no, row_no, billing_month)
) partition by range (billing_month);

-- Per month and key: what pages read. A load too large for memory writes a key in several parts; readers sum.
create table monthly_costs (
    billing_month date not null,
    charge_key_id uuid not null,
    delivery_id bigint not null,
    scope_id bigint not null,
    part integer not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    metered_quantity numeric not null,
    primary key (delivery_id, charge_key_id, part, billing_month)
) partition by range (billing_month);

-- Per day and key. `is_whole_period` marks what belongs to no single day: tax, fees, subscriptions.
create table daily_costs (
    billing_month date not null,
    charge_key_id uuid not null,
    delivery_id bigint not null,
    scope_id bigint not null,
    day date not null,
    part integer not null,
    is_whole_period boolean not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    metered_quantity numeric not null,
    -- The 24 UTC hours of an accelerator key's day; null elsewhere. Usage whose hour is not known is in none.
    hourly_quantity numeric[],
    primary key (delivery_id, charge_key_id, day, is_whole_period, part, billing_month)
) partition by range (billing_month);
