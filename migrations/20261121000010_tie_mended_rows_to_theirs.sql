-- A delivery of mended rows that completes others counts only while they do: without them its rows would stand beside
-- what they were never missing from. One that somebody chose to add, whatever spoke against it, counts as any addition.
alter table deliveries add column completes boolean not null default false;

-- As before, and without deliveries that complete one which does not count. Through rows that were rejected again a
-- delivery completes the one from which they were missing first.
create or replace function counting_deliveries(without bigint)
returns table (scope_id bigint, delivery_id bigint)
language sql stable
as $$
    with recursive in_place as (
        select ds.scope_id, ds.delivery_id
        from delivery_scopes ds
        join deliveries d on d.delivery_id = ds.delivery_id
        where d.status = 'loaded'
          and d.delivery_id is distinct from without
          and not exists (
              select
              from delivery_scopes replacing
              join deliveries later on later.delivery_id = replacing.delivery_id
              where replacing.scope_id = ds.scope_id
                and later.status = 'loaded'
                and later.delivery_id is distinct from without
                and later.published_sequence > d.published_sequence
                and not replacing.is_addition
                and (replacing.slice is null or replacing.slice = ds.slice)
          )
    ),
    completed as (
        select d.delivery_id, m.mends_delivery_id, m.mends_file_no, m.mends_row_no
        from deliveries d
        join mended_rejections m on m.delivery_id = d.delivery_id
        where d.completes and d.status = 'loaded'
        union
        select c.delivery_id, m.mends_delivery_id, m.mends_file_no, m.mends_row_no
        from completed c
        join mended_rejections m
          on m.delivery_id = c.mends_delivery_id and m.file_no = c.mends_file_no and m.row_no = c.mends_row_no
    ),
    stranded as (
        select c.delivery_id
        from completed c
        left join mended_rejections m
          on m.delivery_id = c.mends_delivery_id and m.file_no = c.mends_file_no and m.row_no = c.mends_row_no
        where m.delivery_id is null
          and c.mends_delivery_id not in (select p.delivery_id from in_place p)
    )
    select p.scope_id, p.delivery_id
    from in_place p
    where p.delivery_id not in (select s.delivery_id from stranded s)
$$;
