-- The kept files of deliveries whose rows are there, whether they count now or not.
select f.delivery_id, f.file_no, f.name, f.sha256, f.rows_read, f.read_as, d.format, d.noisy_tags, d.catalog_version,
    d.has_rows_twice
from delivery_files f
join deliveries d using (delivery_id)
where d.status in ('loaded', 'waiting') and d.archived_at is null
order by f.delivery_id, f.file_no
