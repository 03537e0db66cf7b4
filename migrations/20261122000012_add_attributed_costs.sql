-- What a month cost by day and by what it is attributed to, summed once for a mapping and the deliveries that count:
-- every page by owner reads this instead of the rollups, which have a row a key.
create table attributed_months (
    -- A hash of the mapping and of what counts in the month.
    attributed_id uuid primary key,
    billing_month date not null,
    set_id uuid not null references attribution_sets on delete cascade,
    -- A hash of what counts alone: months that differ in their mapping only are made from each other.
    basis_id uuid not null,
    created_at timestamptz not null default now()
);

create index attributed_months_by_basis on attributed_months (basis_id);
create index attributed_months_by_set on attributed_months (set_id);

-- The rows of a month: those it was made from, and the difference.
create table attributed_parts (
    attributed_id uuid not null references attributed_months on delete cascade,
    part_id uuid not null,
    primary key (attributed_id, part_id)
);

-- A difference has rows below zero. Where the charges of a month's parts sum to zero, there is nothing.
create table attributed_costs (
    part_id uuid not null,
    billing_month date not null,
    attribution_id uuid not null,
    currency text not null,
    day date not null,
    is_whole_period boolean not null,
    -- Whether it is the use of accelerators.
    is_accelerated boolean not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    part_seconds numeric not null
);

create index attributed_costs_by_part on attributed_costs (part_id);
