-- A slice takes the place of slices of another export that state days which it states, unless it was added: two exports of one
-- account would count these days twice. Otherwise as before: a delivery of the whole month takes the place of all before it,
-- a slice that of the same slice.
do $$ begin
    execute $function$
        create or replace function active_in_scopes(touched bigint[], without bigint)
        returns table (scope_id bigint, delivery_id bigint)
        language sql stable
        as $body$
            with recursive
            -- Of the deliveries in these scopes that complete others: the rows for which theirs stand, back to those that were
            -- missing first.
            completed as (
                select d.delivery_id, m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no
                from deliveries d
                join corrected_rejections m on m.delivery_id = d.delivery_id
                where d.completes and d.status = 'loaded'
                  and d.delivery_id in (select ds.delivery_id from delivery_scopes ds where ds.scope_id = any(touched))
                union
                select c.delivery_id, m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no
                from completed c
                join corrected_rejections m
                  on m.delivery_id = c.corrects_delivery_id and m.file_no = c.corrects_file_no and m.row_no = c.corrects_row_no
            ),
            missing_first as (
                select distinct c.delivery_id, c.corrects_delivery_id as of_delivery
                from completed c
                left join corrected_rejections m
                  on m.delivery_id = c.corrects_delivery_id and m.file_no = c.corrects_file_no and m.row_no = c.corrects_row_no
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
                        and (
                            replacing.slice is null
                            or replacing.slice = ds.slice
                            or (ds.slice is not null and later.format is distinct from d.format and replacing.days && ds.days)
                        )
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
        $body$
    $function$;
end $$;
-- What would be active in the scopes of a delivery that is not published yet, were it published now to replace.
do $$ begin
    execute $function$
        create or replace function active_if_replaced_by(replacing bigint)
        returns table (scope_id bigint, delivery_id bigint)
        language sql stable
        as $body$
            with held as (
                select v.scope_id, v.delivery_id, theirs.slice, theirs.is_addition, theirs.days, d.format
                from delivery_scopes mine
                join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
                join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
                join deliveries d on d.delivery_id = v.delivery_id
                where mine.delivery_id = replacing
            )
            select mine.scope_id, mine.delivery_id
            from delivery_scopes mine
            where mine.delivery_id = replacing
            union all
            select held.scope_id, held.delivery_id
            from held
            join delivery_scopes mine on mine.scope_id = held.scope_id and mine.delivery_id = replacing
            join deliveries own on own.delivery_id = mine.delivery_id
            where mine.slice is not null
              and held.slice is distinct from mine.slice
              and not exists (select from held whole where whole.slice is null and not whole.is_addition)
              and not (held.slice is not null and held.format is distinct from own.format and held.days && mine.days)
        $body$
    $function$;
end $$;
