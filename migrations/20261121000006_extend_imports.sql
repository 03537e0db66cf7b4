-- Uploads tell how far they are in bytes, and can be cancelled; what a person discarded is not what was refused.
alter table jobs add column bytes_read bigint not null default 0;
alter table jobs add column cancelled_by text;
alter table jobs drop constraint jobs_status_check;
alter table jobs add constraint jobs_status_check
    check (status in ('queued', 'running', 'done', 'failed', 'cancelled'));

alter table deliveries drop constraint deliveries_status_check;
alter table deliveries add constraint deliveries_status_check
    check (status in ('loading', 'waiting', 'loaded', 'undone', 'refused', 'failed', 'discarded', 'cancelled'));
-- Until now a discarded delivery was called refused.
update deliveries set status = 'discarded' where status = 'refused' and message like 'Discarded by %';

-- What would count in the scopes of a delivery that is not published yet, were it published now to replace. A slice
-- takes the place of the same slice only; one that meets a statement of the whole month stands for the whole month.
create function counting_if_replaced_by(replacing bigint)
returns table (scope_id bigint, delivery_id bigint)
language sql stable
as $$
    with held as (
        select v.scope_id, v.delivery_id, theirs.slice, theirs.is_addition
        from delivery_scopes mine
        join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
        join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
        where mine.delivery_id = replacing
    )
    select mine.scope_id, mine.delivery_id
    from delivery_scopes mine
    where mine.delivery_id = replacing
    union all
    select held.scope_id, held.delivery_id
    from held
    join delivery_scopes mine on mine.scope_id = held.scope_id and mine.delivery_id = replacing
    where mine.slice is not null
      and held.slice is distinct from mine.slice
      and not exists (select from held whole where whole.slice is null and not whole.is_addition)
$$;

-- What ended at a step of the ledger: which deliveries another one superseded.
create index visibility_by_until on visibility (until_sequence);
