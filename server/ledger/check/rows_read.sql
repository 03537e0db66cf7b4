-- What was read of each delivery is a charge, rejected or skipped; a row can be further charges.
select
    'delivery ' || delivery_id as of,
    (rows_read + further_charges)::numeric as left_side,
    (charges + rejected + skipped)::numeric as right_side
from deliveries
where status in ('waiting', 'loaded', 'undone')
order by delivery_id
