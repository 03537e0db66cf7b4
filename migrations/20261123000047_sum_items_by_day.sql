-- A running month is compared with the same days of the month before, whatever it is asked by: what was bought, by day and
-- bill, says it without looking at each key. Who is charged with what was bought is a row of `items`, whose id is a hash of
-- what it says: so few numbers and no long texts are what sums are grouped by.
do $$ begin execute $sql$
create table items (
    item_id uuid primary key,
    team text not null,
    cost_centre text not null,
    pool text not null,
    pool_part text not null,
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
    is_unused_commitment boolean not null
)
$sql$; end $$;

-- `charged_items` had the same with the texts in each row. An older program that still runs reads it; the next release drops
-- it.
do $$ begin execute $sql$
create table item_costs (
    part_id uuid not null,
    billing_month date not null,
    item_id uuid not null,
    -- Whether it is of keys that come to less than nothing.
    is_credit boolean not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    metered_quantity numeric not null,
    part_seconds numeric not null
)
$sql$; end $$;

do $$ begin execute $sql$
create table item_days (
    part_id uuid not null,
    billing_month date not null,
    item_id uuid not null,
    scope_id bigint not null,
    -- Whether it is of keys that come to less than nothing that day.
    is_credit boolean not null,
    day date not null,
    is_whole_period boolean not null,
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    metered_quantity numeric not null,
    part_seconds numeric not null
)
$sql$; end $$;

do $$ begin execute 'create index item_costs_by_part on item_costs (part_id)'; end $$;
do $$ begin execute 'create index item_days_by_part on item_days (part_id)'; end $$;
