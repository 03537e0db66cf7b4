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

-- As before, and without those whose mended row was rejected again: they are as missing as they were.
create or replace function mended_rows(as_of bigint)
returns table (delivery_id bigint, file_no smallint, row_no bigint, by_delivery_id bigint)
language sql stable
as $$
    with recursive mending as (
        select m.mends_delivery_id, m.mends_file_no, m.mends_row_no, m.delivery_id, m.file_no, m.row_no
        from mended_rejections m
        union
        select e.mends_delivery_id, e.mends_file_no, e.mends_row_no, m.delivery_id, m.file_no, m.row_no
        from mending e
        join mended_rejections m
          on m.mends_delivery_id = e.delivery_id and m.mends_file_no = e.file_no and m.mends_row_no = e.row_no
    )
    select distinct m.mends_delivery_id, m.mends_file_no, m.mends_row_no, m.delivery_id
    from mending m
    join visibility v on v.delivery_id = m.delivery_id
    left join rejections r on r.delivery_id = m.delivery_id and r.file_no = m.file_no and r.row_no = m.row_no
    where v.from_sequence <= as_of and (v.until_sequence is null or v.until_sequence > as_of)
      and r.delivery_id is null
$$;

-- As before, and without those that stand for another's: each is missing once, from where it was missing first.
create or replace function missing_rows(as_of bigint)
returns table (delivery_id bigint, missing bigint)
language sql stable
as $$
    select d.delivery_id, d.rejected - coalesce(elsewhere.number, 0)
    from deliveries d
    left join (
        select rows.delivery_id, count(*) as number
        from (
            select m.delivery_id, m.file_no, m.row_no from mended_rows(as_of) m
            union
            select r.delivery_id, r.file_no, r.row_no
            from rejections r
            join mended_rejections m on m.delivery_id = r.delivery_id and m.file_no = r.file_no and m.row_no = r.row_no
        ) rows
        group by 1
    ) elsewhere on elsewhere.delivery_id = d.delivery_id
    where d.rejected > coalesce(elsewhere.number, 0)
$$;
