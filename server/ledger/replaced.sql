-- The deliveries that count in each scope of delivery $1 and that it would replace, with their days and their files. A slice
-- replaces the same slice, and of another export those of its days; where the whole month is stated, whoever tells it to replace
-- means all that is there.
with mine as (
    select
        own.scope_id,
        own.slice,
        own.days,
        d.format,
        own.slice is not null and exists (
            select
            from visibility v
            join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
            where v.scope_id = own.scope_id
              and v.until_sequence is null
              and theirs.slice is null
              and not theirs.is_addition
        ) as takes_whole
    from delivery_scopes own
    join deliveries d on d.delivery_id = own.delivery_id
    where own.delivery_id = $1
)
select
    mine.scope_id,
    s.provider,
    s.billing_account,
    s.billing_month,
    v.delivery_id,
    mine.takes_whole as "takes_whole!",
    other.format is distinct from mine.format as "is_other_export!",
    mine.days as own_days,
    theirs.days,
    array(select f.name from delivery_files f where f.delivery_id = v.delivery_id) as "files!"
from mine
join scopes s using (scope_id)
join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
join deliveries other on other.delivery_id = v.delivery_id
join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
    and (
        mine.slice is null
        or theirs.slice = mine.slice
        or mine.takes_whole
        or (theirs.slice is not null and other.format is distinct from mine.format and theirs.days && mine.days)
    )
order by s.billing_month, s.provider, s.billing_account, v.delivery_id
