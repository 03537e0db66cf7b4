-- What was lost and nobody explained, where the delivery that says so ceased to count at sequence $2 in a scope of delivery $1:
-- with the deliveries that it replaced. A renamed scope is one that the delivery states as empty.
select distinct
    shrunk.scope_id,
    shrunk.lost_by,
    s.provider,
    s.billing_account,
    s.billing_month,
    mine.slice,
    mine.charges = 0 as "is_renamed!",
    array(
        select before.delivery_id
        from visibility before
        join deliveries losing on losing.published_sequence = before.until_sequence
        where before.scope_id = shrunk.scope_id and losing.delivery_id = shrunk.lost_by
        order by 1
    ) as "before!"
from shrunk_scopes shrunk
join scopes s using (scope_id)
join visibility v using (delivery_id, scope_id)
join delivery_scopes mine on mine.scope_id = shrunk.scope_id and mine.delivery_id = $1
where shrunk.explanation is null and v.until_sequence = $2
order by 1, 2
