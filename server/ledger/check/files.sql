-- The kept files of deliveries that are loaded, whether they count now or not, with what the ledger made of them.
select
    f.delivery_id,
    f.name,
    f.sha256,
    f.rows_read,
    coalesce(
        (select array_agg(r.row_no) from rejections r where r.delivery_id = f.delivery_id and r.file_no = f.file_no),
        '{}'
    ) as "rejected_rows!",
    coalesce(
        (select sum(c.billed_cost) from charges c where c.delivery_id = f.delivery_id and c.file_no = f.file_no),
        0
    ) as "billed_cost!: Decimal"
from delivery_files f
join deliveries d using (delivery_id)
where d.status in ('loaded', 'waiting')
order by f.delivery_id, f.file_no
