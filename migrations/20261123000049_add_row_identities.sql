-- What tells the rows of a delivery from one another, where its format states that (AWS: the id of the line item): the same
-- row must not count twice, in one delivery nor in two that are added to each other. Hashes, in their order, some thousands a
-- line.
do $$ begin
    execute 'create table row_identities (
        delivery_id bigint not null references deliveries on delete cascade,
        part integer not null,
        identities bigint[] not null,
        primary key (delivery_id, part)
    )';
end $$;
-- They are chance to whoever would compress them.
do $$ begin execute 'alter table row_identities alter column identities set storage external'; end $$;
