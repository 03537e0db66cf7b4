-- How much of what it replaces an import may lack, in percent, before somebody is asked. One row a measure.
create table replacement_limits (
    measure text primary key check (measure in ('rows', 'cost', 'keys', 'services', 'resources')),
    percent numeric not null check (percent >= 0 and percent <= 100)
);

insert into replacement_limits (measure, percent)
values ('rows', 5), ('cost', 5), ('keys', 5), ('services', 5), ('resources', 5);

-- What is offered first where somebody is asked: parts of one export add up.
alter table deliveries add column suggested_decision text check (suggested_decision in ('replace', 'add'));

-- Months of an account that lost more than the limits when a delivery replaced what they held. They are on the overview until
-- somebody explains them.
create table shrunk_scopes (
    delivery_id bigint not null references deliveries on delete cascade,
    scope_id bigint not null references scopes,
    -- In words, as it was asked: 75 % of the rows (4,000 to 1,000).
    loss text not null,
    explanation text,
    explained_by text,
    explained_at timestamptz,
    primary key (delivery_id, scope_id),
    check ((explanation is null) = (explained_by is null) and (explanation is null) = (explained_at is null))
);
