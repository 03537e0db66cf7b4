-- What is active, in one place: the functions that decide it, under the names that pages and code use. They were called
-- *counting*, and rows that stand for rejected ones *mended*.
do $$ begin execute 'drop view visible_deliveries'; end $$;
do $$ begin execute 'drop function counting_if_replaced_by(bigint)'; end $$;
do $$ begin execute 'drop function counting_deliveries(bigint)'; end $$;
do $$ begin execute 'drop function counting_in_scopes(bigint[], bigint)'; end $$;
do $$ begin execute 'drop function touched_scopes(bigint)'; end $$;
do $$ begin execute 'drop function missing_rows(bigint)'; end $$;
do $$ begin execute 'drop function mended_rows(bigint)'; end $$;
do $$ begin execute 'alter table mended_rejections rename to corrected_rejections'; end $$;
do $$ begin execute 'alter table corrected_rejections rename column mends_delivery_id to corrects_delivery_id'; end $$;
do $$ begin execute 'alter table corrected_rejections rename column mends_file_no to corrects_file_no'; end $$;
do $$ begin execute 'alter table corrected_rejections rename column mends_row_no to corrects_row_no'; end $$;
do $$ begin execute 'alter index mended_rejections_by_mended rename to corrected_rejections_by_corrected'; end $$;
-- Which rejected rows are corrected as of a sequence of the ledger, and by which delivery that is active then. One that corrects
-- a row that corrects corrects both; one whose correction was rejected again is as missing as it was.
do $$ begin
    execute $function$
        create function corrected_rows(as_of bigint)
        returns table (delivery_id bigint, file_no smallint, row_no bigint, by_delivery_id bigint)
        language sql stable
        as $body$
            with recursive correcting as (
                select m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no, m.delivery_id, m.file_no, m.row_no
                from corrected_rejections m
                union
                select e.corrects_delivery_id, e.corrects_file_no, e.corrects_row_no, m.delivery_id, m.file_no, m.row_no
                from correcting e
                join corrected_rejections m
                  on m.corrects_delivery_id = e.delivery_id and m.corrects_file_no = e.file_no and m.corrects_row_no = e.row_no
            )
            select distinct m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no, m.delivery_id
            from correcting m
            join visibility v on v.delivery_id = m.delivery_id
            left join rejections r on r.delivery_id = m.delivery_id and r.file_no = m.file_no and r.row_no = m.row_no
            where v.from_sequence <= as_of and (v.until_sequence is null or v.until_sequence > as_of)
              and r.delivery_id is null
        $body$
    $function$;
end $$;
-- Rejected rows that are missing, of each delivery that has any, as of a sequence: without those that are corrected, those that
-- stand for another's, since each is missing once, from where it was missing first, and those that repeat rows which are there.
-- Whether the delivery itself is active is for the reader to ask.
do $$ begin
    execute $function$
        create function missing_rows(as_of bigint)
        returns table (delivery_id bigint, missing bigint)
        language sql stable
        as $body$
            select d.delivery_id, d.rejected - coalesce(elsewhere.number, 0)
            from deliveries d
            left join (
                select rows.delivery_id, count(*) as number
                from (
                    select m.delivery_id, m.file_no, m.row_no from corrected_rows(as_of) m
                    union
                    select r.delivery_id, r.file_no, r.row_no
                    from rejections r
                    join corrected_rejections m
                      on m.delivery_id = r.delivery_id and m.file_no = r.file_no and m.row_no = r.row_no
                    union
                    select r.delivery_id, r.file_no, r.row_no from rejections r where r.is_repeated
                ) rows
                group by 1
            ) elsewhere on elsewhere.delivery_id = d.delivery_id
            where d.rejected > coalesce(elsewhere.number, 0)
        $body$
    $function$;
end $$;
-- What is active in some scopes alone. A publish or an undo changes it in few of them, and compares no others: it holds the
-- ledger's lock meanwhile, and a history has thousands.
do $$ begin
    execute $function$
        create function active_in_scopes(touched bigint[], without bigint)
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
        $body$
    $function$;
end $$;
-- The same in all scopes.
do $$ begin
    execute $function$
        create function active_deliveries(without bigint)
        returns table (scope_id bigint, delivery_id bigint)
        language sql stable
        as $body$
            select c.scope_id, c.delivery_id
            from active_in_scopes(array(select s.scope_id from scopes s), without) c
        $body$
    $function$;
end $$;
-- What would be active in the scopes of a delivery that is not published yet, were it published now to replace. A slice takes
-- the place of the same slice only; one that meets a statement of the whole month stands for the whole month.
do $$ begin
    execute $function$
        create function active_if_replaced_by(replacing bigint)
        returns table (scope_id bigint, delivery_id bigint)
        language sql stable
        as $body$
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
        $body$
    $function$;
end $$;
-- The scopes in which a delivery that is published or undone can change what is active: its own, and those of deliveries that
-- complete one with which it shares a scope, directly or through rows that were rejected again.
do $$ begin
    execute $function$
        create function touched_scopes(delivery bigint)
        returns table (scope_id bigint)
        language sql stable
        as $body$
            with recursive own as (
                select ds.scope_id from delivery_scopes ds where ds.delivery_id = delivery
            ),
            reached as (
                select ds.delivery_id from delivery_scopes ds where ds.scope_id in (select o.scope_id from own o)
                union
                select m.delivery_id
                from reached r
                join corrected_rejections m on m.corrects_delivery_id = r.delivery_id
            )
            select o.scope_id from own o
            union
            select ds.scope_id
            from delivery_scopes ds
            where ds.delivery_id in (
                select m.delivery_id from corrected_rejections m where m.corrects_delivery_id in (select r.delivery_id from reached r)
            )
        $body$
    $function$;
end $$;
do $$ begin
    execute 'create view visible_deliveries as select scope_id, delivery_id from active_deliveries(null)';
end $$;
