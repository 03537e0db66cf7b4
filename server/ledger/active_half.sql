-- The kept files of format $1 with the other half of the scopes $3, $4, $5 (provider, account, month): what was billed where
-- $2 is true, what is effective where it is not. A file that shows no commitment is neither. Only of a delivery that is active in exactly these scopes, and alone there: of
-- another a half would be left without the other one, and of several nobody knows what belongs together.
with mine as (
    select s.scope_id
    from unnest($3::text[], $4::text[], $5::date[]) as wanted (provider, billing_account, billing_month)
    join scopes s using (provider, billing_account, billing_month)
),
active as (
    select distinct v.delivery_id
    from visibility v
    join deliveries d using (delivery_id)
    where v.scope_id in (select scope_id from mine)
      and v.until_sequence is null
      and not d.completes
),
alone as (
    select d.delivery_id
    from deliveries d
    join delivery_scopes ds using (delivery_id)
    left join visibility v on v.delivery_id = ds.delivery_id and v.scope_id = ds.scope_id and v.until_sequence is null
    where d.delivery_id in (select delivery_id from active)
      and (select count(*) from active) = 1
      and d.format = $1
      and ds.charges > 0
    group by d.delivery_id
    having bool_and(v.scope_id is not null)
       and array_agg(ds.scope_id order by ds.scope_id) = (select array_agg(scope_id order by scope_id) from mine)
       and cardinality($3::text[]) = (select count(*) from mine)
)
select f.delivery_id, f.name, o.sha256, o.received_bytes, o.content_bytes
from alone
join delivery_files f using (delivery_id)
join originals o using (sha256)
where f.states = case when $2 then 'billed' else 'effective' end
order by f.file_no
