-- Every kept file, and the first import that brought it.
select distinct on (o.sha256)
    o.sha256, o.received_bytes, o.content_bytes, f.name as "name?", f.delivery_id as "delivery_id?"
from originals o
left join delivery_files f using (sha256)
order by o.sha256, f.delivery_id, f.file_no
