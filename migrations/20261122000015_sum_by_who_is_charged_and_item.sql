-- What a month cost by who is charged and what was bought: pages of a team by anything of a charge, and whose the rest of
-- an account is, look at each key no more. A sixteenth of the rows, where most keys differ by machine.
create table charged_items (
    part_id uuid not null,
    billing_month date not null,
    team text not null,
    cost_centre text not null,
    pool text not null,
    pool_part text not null,
    currency text not null,
    -- Whether it is of keys that come to less than nothing.
    is_credit boolean not null,
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
    charges bigint not null,
    billed_cost numeric not null,
    effective_cost numeric not null,
    list_cost numeric not null,
    contracted_cost numeric not null,
    metered_quantity numeric not null,
    part_seconds numeric not null
);

create index charged_items_by_part on charged_items (part_id);

-- Nobody plans by them, and counting their values takes longer than counting all others.
alter table keyed_costs alter column tags set statistics 0;
