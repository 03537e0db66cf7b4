-- Rows that were rejected because others like them count already: they are missing from no figure, and nobody mends them.
do $$ begin execute 'alter table rejections add column is_repeated boolean not null default false'; end $$;
do $$ begin
    execute 'create index rejections_repeated_idx on rejections (delivery_id, file_no, row_no) where is_repeated';
end $$;
do $$ begin
    execute $function$
        create or replace function missing_rows(as_of bigint)
        returns table (delivery_id bigint, missing bigint)
        language sql stable
        as $body$
            select d.delivery_id, d.rejected - coalesce(elsewhere.number, 0)
            from deliveries d
            left join (
                select rows.delivery_id, count(*) as number
                from (
                    select m.delivery_id, m.file_no, m.row_no from mended_rows(as_of) m
                    union
                    select r.delivery_id, r.file_no, r.row_no
                    from rejections r
                    join mended_rejections m
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
