-- What counts in some scopes alone. A publish or an undo changes what counts in few of them, and compares no others:
-- it holds the ledger's lock meanwhile, and a history has thousands. What counts is defined here and nowhere else.
create function counting_in_scopes(touched bigint[], without bigint)
returns table (scope_id bigint, delivery_id bigint)
language sql stable
as $$
    with recursive
    -- Of the deliveries in these scopes that complete others: the rows for which theirs stand, back to those that were
    -- missing first.
    completed as (
        select d.delivery_id, m.mends_delivery_id, m.mends_file_no, m.mends_row_no
        from deliveries d
        join mended_rejections m on m.delivery_id = d.delivery_id
        where d.completes and d.status = 'loaded'
          and d.delivery_id in (select ds.delivery_id from delivery_scopes ds where ds.scope_id = any(touched))
        union
        select c.delivery_id, m.mends_delivery_id, m.mends_file_no, m.mends_row_no
        from completed c
        join mended_rejections m
          on m.delivery_id = c.mends_delivery_id and m.file_no = c.mends_file_no and m.row_no = c.mends_row_no
    ),
    missing_first as (
        select distinct c.delivery_id, c.mends_delivery_id as of_delivery
        from completed c
        left join mended_rejections m
          on m.delivery_id = c.mends_delivery_id and m.file_no = c.mends_file_no and m.row_no = c.mends_row_no
        where m.delivery_id is null
    ),
    asked as (
        select ds.scope_id, ds.delivery_id from delivery_scopes ds where ds.scope_id = any(touched)
        union
        select ds.scope_id, ds.delivery_id
        from delivery_scopes ds
        where ds.delivery_id in (select f.of_delivery from missing_first f)
    ),
    in_place as (
        select ds.scope_id, ds.delivery_id
        from asked
        join delivery_scopes ds on ds.scope_id = asked.scope_id and ds.delivery_id = asked.delivery_id
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
    )
    select p.scope_id, p.delivery_id
    from in_place p
    where p.scope_id = any(touched)
      and p.delivery_id not in (
          select f.delivery_id
          from missing_first f
          where f.of_delivery not in (select q.delivery_id from in_place q)
      )
$$;

create or replace function counting_deliveries(without bigint)
returns table (scope_id bigint, delivery_id bigint)
language sql stable
as $$
    select c.scope_id, c.delivery_id
    from counting_in_scopes(array(select s.scope_id from scopes s), without) c
$$;

-- The scopes in which a delivery that is published or undone can change what counts: its own, and those of deliveries
-- that complete one with which it shares a scope, directly or through rows that were rejected again.
create function touched_scopes(delivery bigint)
returns table (scope_id bigint)
language sql stable
as $$
    with recursive own as (
        select ds.scope_id from delivery_scopes ds where ds.delivery_id = delivery
    ),
    reached as (
        select ds.delivery_id from delivery_scopes ds where ds.scope_id in (select o.scope_id from own o)
        union
        select m.delivery_id
        from reached r
        join mended_rejections m on m.mends_delivery_id = r.delivery_id
    )
    select o.scope_id from own o
    union
    select ds.scope_id
    from delivery_scopes ds
    where ds.delivery_id in (
        select m.delivery_id from mended_rejections m where m.mends_delivery_id in (select r.delivery_id from reached r)
    )
$$;
