-- Sums by owner stand by day and by month: most pages ask for months, which are a thirtieth of the rows. What exists is
-- made again when it is asked for.
truncate attributed_months cascade;
truncate attributed_costs;
alter table attributed_costs rename to attributed_days;
alter index attributed_costs_by_part rename to attributed_days_by_part;

create table attributed_costs (
    part_id uuid not null,
    billing_month date not null,
    attribution_id uuid not null,
    -- Whose bill it is on: who sees a charge of it sees how the bill stands.
    scope_id bigint not null,
    currency text not null,
    is_accelerated boolean not null,
    -- Whether it is of keys that come to less than nothing.
    is_credit boolean not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    part_seconds numeric not null
);

create index attributed_costs_by_part on attributed_costs (part_id);

-- The days by who is charged alone, which is what most charts ask for.
create table charged_days (
    part_id uuid not null,
    billing_month date not null,
    team text not null,
    cost_centre text not null,
    pool text not null,
    pool_part text not null,
    currency text not null,
    day date not null,
    is_whole_period boolean not null,
    is_accelerated boolean not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    part_seconds numeric not null
);

create index charged_days_by_part on charged_days (part_id);

-- What counts in a month by charge key, each key with what it says: pages by owner and by anything of a charge read one
-- row a key here, instead of joining the rollups of every delivery with the keys.
create table keyed_months (
    -- A hash of the month and of what counts in it.
    basis_id uuid primary key,
    billing_month date not null,
    used_at timestamptz not null default now()
);

create table keyed_costs (
    basis_id uuid not null,
    charge_key_id uuid not null,
    scope_id bigint not null,
    billing_month date not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    metered_quantity numeric not null,
    part_seconds numeric not null,
    currency text not null,
    category text not null,
    pricing text not null,
    provider text not null,
    billing_account text not null,
    sub_account text not null,
    service text not null,
    region text not null,
    accelerator text,
    instance_type text not null,
    meter text not null,
    sku text not null,
    unit text not null,
    commitment_discount_id text not null,
    resource_id text,
    tags jsonb not null,
    primary key (basis_id, charge_key_id, scope_id)
);

-- When somebody last asked for what was made for them. What nobody has used for a month is removed.
alter table attribution_sets add column used_at timestamptz not null default now();
alter table attributed_months add column used_at timestamptz not null default now();
alter table pool_divisions add column used_at timestamptz not null default now();
