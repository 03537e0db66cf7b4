-- The active deliveries in the scopes of delivery $1 before and after it. For one that was published: at the
-- version of the ledger before its own and at its own. For one that waits: now, and were it published to replace; corrected rows
-- that wait for review add.
with mine as (
    select ds.scope_id, s.billing_month, d.status, d.published_sequence as published,
        d.awaits_review and exists (select from corrected_rejections c where c.delivery_id = d.delivery_id) as adds
    from deliveries d
    join delivery_scopes ds using (delivery_id)
    join scopes s using (scope_id)
    where d.delivery_id = $1
),
in_scope as (
    select mine.scope_id, mine.billing_month, v.delivery_id,
        v.from_sequence < mine.published and (v.until_sequence is null or v.until_sequence >= mine.published) as before,
        v.from_sequence <= mine.published and (v.until_sequence is null or v.until_sequence > mine.published) as after
    from mine
    join visibility v using (scope_id)
    where mine.published is not null
    union all
    select mine.scope_id, mine.billing_month, v.delivery_id, true, mine.adds
    from mine
    join visibility v using (scope_id)
    where mine.status = 'waiting' and v.until_sequence is null
    union all
    select mine.scope_id, mine.billing_month, c.delivery_id, false, true
    from mine
    join active_if_replaced_by($1) c using (scope_id)
    where mine.status = 'waiting' and not mine.adds
    union all
    select mine.scope_id, mine.billing_month, $1, false, true
    from mine
    where mine.status = 'waiting' and mine.adds
),
before_after as (
    select scope_id, billing_month, delivery_id, bool_or(before) as before, bool_or(after) as after
    from in_scope
    where before or after
    group by 1, 2, 3
)
