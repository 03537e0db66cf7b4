-- The kept files of deliveries that are loaded, whether they count now or not.
select f.delivery_id, f.file_no, f.name, f.sha256, f.rows_read, d.format, d.noisy_tags, d.catalog_version
from delivery_files f
join deliveries d using (delivery_id)
where d.status in ('loaded', 'waiting')
order by f.delivery_id, f.file_no
