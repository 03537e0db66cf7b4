-- The counts of each delivery are the rows that are there; of an archived one, what its totals count.
select
    'delivery ' || d.delivery_id || ', ' || counted.what as of,
    counted.stated::numeric as left_side,
    counted.stored::numeric as right_side
from deliveries d
-- Counted together: large deliveries have tables of their own, each of which would be asked about each delivery.
left join (select delivery_id, count(*) as stored from charges group by 1) charged using (delivery_id)
cross join lateral (
    values
        ('charges', d.charges, case
            when d.archived_at is null then coalesce(charged.stored, 0)
            else (select coalesce(sum(t.charges), 0) from monthly_totals t where t.delivery_id = d.delivery_id)
        end),
        ('rejected', d.rejected, (select count(*) from rejections r where r.delivery_id = d.delivery_id)),
        ('skipped', d.skipped, (select coalesce(sum(skipped_rows), 0) from skips s where s.delivery_id = d.delivery_id)),
        ('rows of files', d.rows_read, (select coalesce(sum(rows_read), 0) from delivery_files f where f.delivery_id = d.delivery_id)),
        ('keys known', 0, (
            select count(*) from monthly_costs m left join charge_keys k using (charge_key_id)
            where m.delivery_id = d.delivery_id and k.charge_key_id is null
        ))
) as counted (what, stated, stored)
where d.status in ('waiting', 'loaded', 'undone')
order by d.delivery_id, counted.what
