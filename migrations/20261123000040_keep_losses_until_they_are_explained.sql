-- A limit has at most two decimals.
update replacement_limits set percent = round(percent, 2) where percent <> round(percent, 2);

alter table replacement_limits add check (percent = round(percent, 2));

-- What a month lost stays open when a later import replaces the one that lost it: the later one has a row of its own with the
-- same `lost_by`. So an undo brings back exactly what was said before.
alter table shrunk_scopes add column lost_by bigint;

-- The services that lose the most stand apart from what is lost in all.
alter table shrunk_scopes add column by_service text not null default '';

update shrunk_scopes
set lost_by = delivery_id,
    loss = split_part(loss, '. Largest differences: ', 1),
    by_service = split_part(loss, '. Largest differences: ', 2);

alter table shrunk_scopes alter column lost_by set not null;

alter table shrunk_scopes drop constraint shrunk_scopes_pkey;

alter table shrunk_scopes add primary key (delivery_id, scope_id, lost_by);

alter table shrunk_scopes add foreign key (lost_by) references deliveries (delivery_id) on delete cascade;
