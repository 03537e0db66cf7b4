-- What speaks against counting delivery $1 beside the deliveries whose rejected rows it mends.
with marks as (
    select mends_delivery_id, mends_file_no, mends_row_no
    from mended_rejections
    where delivery_id = $1
),
counting as (
    select scope_id, delivery_id
    from visibility
    where until_sequence is null
)
select
    (select d.charges + d.rejected from deliveries d where d.delivery_id = $1) > (select count(*) from marks) as "has_others!",
    (select count(*) > count(distinct (mends_file_no, mends_row_no, mends_delivery_id)) from marks) as "names_twice!",
    exists (
        select
        from marks m
        join mended_rows((select sequence from ledger)) mended
          on mended.delivery_id = m.mends_delivery_id
          and mended.file_no = m.mends_file_no
          and mended.row_no = m.mends_row_no
    ) as "is_mended!",
    exists (
        select from marks where mends_delivery_id not in (select delivery_id from counting)
    ) as "is_over!",
    exists (
        select
        from delivery_scopes mine
        join counting using (scope_id)
        where mine.delivery_id = $1
        group by mine.scope_id
        having not bool_or(counting.delivery_id in (select mends_delivery_id from marks))
    ) as "meets_others!"
