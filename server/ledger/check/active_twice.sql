-- Rows whose format states what identifies them, of all that is active in a scope beside something else, and how many
-- they are when each is counted once.
with beside as (
    select scope_id
    from visibility
    where until_sequence is null
    group by scope_id
    having count(*) > 1
)
select
    s.provider || ' ' || s.billing_account || ' ' || to_char(s.billing_month, 'YYYY-MM') as of,
    count(*)::numeric as left_side,
    count(distinct identity)::numeric as right_side
from beside
join scopes s using (scope_id)
join visibility v on v.scope_id = s.scope_id and v.until_sequence is null
join row_identities r using (delivery_id)
cross join unnest(r.identities) identity
group by s.scope_id, s.provider, s.billing_account, s.billing_month
order by s.billing_month, s.provider, s.billing_account
