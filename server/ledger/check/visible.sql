-- The history of what counts, at its end, and what its definition says.
select
    s.provider || ' ' || s.billing_account || ' ' || to_char(s.billing_month, 'YYYY-MM') || ', delivery ' || delivery_id as of,
    (v.delivery_id is not null)::int::numeric as left_side,
    (d.delivery_id is not null)::int::numeric as right_side
from (select scope_id, delivery_id from visibility where until_sequence is null) v
full join visible_deliveries d using (scope_id, delivery_id)
join scopes s using (scope_id)
order by s.billing_month, s.provider, s.billing_account, delivery_id
