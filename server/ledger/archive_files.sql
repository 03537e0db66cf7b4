-- Kept files that only archived imports have, all of which were archived before $1. Bills of our own clusters stay: nobody else
-- has them.
select o.sha256, o.received_bytes,
    (select array_agg(distinct f.delivery_id order by f.delivery_id) from delivery_files f where f.sha256 = o.sha256) as imports
from originals o
where exists (
        select from delivery_files f
        join deliveries d using (delivery_id)
        where f.sha256 = o.sha256 and d.rows_removed_at is not null
    )
    and not exists (
        select from delivery_files f
        join deliveries d using (delivery_id)
        where f.sha256 = o.sha256 and d.status in ('loading', 'waiting', 'loaded', 'undone')
            and (d.rows_removed_at is null or d.archived_at >= $1)
    )
    and not exists (select from cluster_months c where c.sha256 = o.sha256)
order by o.sha256
