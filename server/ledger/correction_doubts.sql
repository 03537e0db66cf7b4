-- What speaks against counting delivery $1 beside the deliveries whose rejected rows it corrects.
with marks as (
    select corrects_delivery_id, corrects_file_no, corrects_row_no
    from corrected_rejections
    where delivery_id = $1
),
counting as (
    select scope_id, delivery_id
    from visibility
    where until_sequence is null
)
select
    (select d.charges - d.further_charges + d.rejected from deliveries d where d.delivery_id = $1) > (select count(*) from marks) as "has_others!",
    (select count(*) > count(distinct (corrects_file_no, corrects_row_no, corrects_delivery_id)) from marks) as "names_twice!",
    exists (
        select
        from marks m
        join corrected_rows((select sequence from ledger)) corrected
          on corrected.delivery_id = m.corrects_delivery_id
          and corrected.file_no = m.corrects_file_no
          and corrected.row_no = m.corrects_row_no
    ) as "is_corrected!",
    exists (
        select from marks where corrects_delivery_id not in (select delivery_id from counting)
    ) as "is_over!",
    exists (
        select
        from delivery_scopes mine
        join counting using (scope_id)
        where mine.delivery_id = $1
        group by mine.scope_id
        having not bool_or(counting.delivery_id in (select corrects_delivery_id from marks))
    ) as "meets_others!"
