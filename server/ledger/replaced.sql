-- The deliveries that count in each scope of delivery $1 and that it would replace, with their days and their files.
select
    mine.scope_id,
    s.provider,
    s.billing_account,
    s.billing_month,
    v.delivery_id,
    mine.days as own_days,
    theirs.days,
    array(select f.name from delivery_files f where f.delivery_id = v.delivery_id) as "files!"
from delivery_scopes mine
join scopes s using (scope_id)
join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
    and (mine.slice is null or theirs.slice = mine.slice)
where mine.delivery_id = $1
order by s.billing_month, s.provider, s.billing_account, v.delivery_id
