-- Why delivery $1 should not simply replace what is visible in its scopes. It lacks sub-accounts, days or currencies
-- of it, misses more rows, came before it, is a slice where that states the whole month, or a slice of days that are there from
-- another export.
with lost as materialized (
    select delivery_id, missing from missing_rows((select sequence from ledger))
),
-- Of which half of a month the delivery brings files. It was loaded with those that it lacks, of an active import.
own_half as (
    select coalesce(bool_or(states = 'effective'), false) as is_effective
    from delivery_files
    where delivery_id = $1 and taken_from is null
),
held as (
    select
        v.scope_id,
        max(v.delivery_id) as replaces,
        array_agg(distinct sub_account) filter (where sub_account is not null) as sub_accounts,
        array_agg(distinct day) filter (where day is not null) as days
    from delivery_scopes mine
    join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
    join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
        and (mine.slice is null or theirs.slice = mine.slice)
    left join lateral unnest(theirs.sub_accounts) sub_account on true
    left join lateral unnest(theirs.days) day on true
    where mine.delivery_id = $1
    group by v.scope_id
),
missing as (
    select
        held.scope_id,
        held.replaces,
        array(
            select s from unnest(held.sub_accounts) s
            except select unnest(mine.sub_accounts)
            order by 1
        ) as sub_accounts,
        array(
            select d from unnest(held.days) d
            except select unnest(mine.days)
            order by 1
        ) as days
    from held
    join delivery_scopes mine on mine.scope_id = held.scope_id and mine.delivery_id = $1
)
select
    s.provider as "provider!",
    s.billing_account as "billing_account!",
    s.billing_month as "billing_month!",
    m.replaces as "replaces!",
    m.sub_accounts as "sub_accounts!",
    m.days as "days!",
    '{}'::text[] as "currencies!",
    false as "is_slice!",
    false as "came_later!",
    null::bigint as missing_here,
    null::bigint as missing_there,
    null::text as other_format
from missing m
join scopes s using (scope_id)
where cardinality(m.sub_accounts) > 0 or cardinality(m.days) > 0
union all
-- A currency that is visible in a scope and that the delivery itself does not have.
select s.provider, s.billing_account, s.billing_month, max(v.delivery_id), '{}', '{}', array_agg(distinct t.currency), false, false, null, null, null
from delivery_scopes mine
join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
    and (mine.slice is null or theirs.slice = mine.slice)
join delivery_totals t on t.scope_id = v.scope_id and t.delivery_id = v.delivery_id
join scopes s on s.scope_id = mine.scope_id
where mine.delivery_id = $1
  and t.charges > 0
  and t.currency not in (
      select own.currency from delivery_totals own where own.delivery_id = $1 and own.scope_id = mine.scope_id
  )
group by 1, 2, 3
union all
-- A slice does not replace a statement of the whole month, nor one of another export that has the same days, and beside either
-- would count twice.
select s.provider, s.billing_account, s.billing_month, max(v.delivery_id), '{}', '{}', '{}', bool_and(theirs.slice is null), false, null, null,
    case when theirs.slice is not null then other.format end
from delivery_scopes mine
join deliveries own on own.delivery_id = mine.delivery_id
join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
join deliveries other on other.delivery_id = v.delivery_id
join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
join scopes s on s.scope_id = mine.scope_id
where mine.delivery_id = $1
  and mine.slice is not null
  and (
      (theirs.slice is null and not theirs.is_addition)
      or (theirs.slice is not null and other.format is distinct from own.format and theirs.days && mine.days)
  )
group by 1, 2, 3, 12, case when theirs.slice is null then v.delivery_id end
union all
-- Imports run side by side: what was submitted first may be ready last. Where it was loaded with a half of a later import, that
-- half stays, and only a later one of its own kind would go.
select s.provider, s.billing_account, s.billing_month, max(v.delivery_id), '{}', '{}', '{}', false, true, null, null, null
from delivery_scopes mine
join deliveries own on own.delivery_id = mine.delivery_id
join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
join deliveries other on other.delivery_id = v.delivery_id
-- One that was priced again came when its files did.
join deliveries came on came.delivery_id = coalesce(other.reprices, other.delivery_id) and came.created_at > own.created_at
join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
    and (mine.slice is null or theirs.slice = mine.slice)
join scopes s on s.scope_id = mine.scope_id
cross join own_half
where mine.delivery_id = $1
  and (
      not exists (select from delivery_files f where f.delivery_id = $1 and f.taken_from = other.delivery_id)
      or exists (
          select from delivery_files f
          left join deliveries source on source.delivery_id = f.taken_from
          where f.delivery_id = other.delivery_id
            and (f.states is not distinct from 'effective') = own_half.is_effective
            and coalesce(source.created_at, came.created_at) > own.created_at
      )
  )
group by 1, 2, 3
union all
-- A row that was rejected has no scope, and what was corrected since is there, as are rows that others repeat: so what is
-- missing from whole deliveries is compared; said of the first month.
select *
from (
    select s.provider, s.billing_account, s.billing_month, h.replaces, '{}'::text[], '{}'::date[], '{}'::text[],
        false, false, own.missing, h.missing, null::text
    from lost own
    cross join lateral (
        select min(v.scope_id) as scope_id, max(v.delivery_id) as replaces, (
            select coalesce(sum(missing), 0)::bigint
            from lost m
            where m.delivery_id = any (array_agg(v.delivery_id))
        ) as missing
        from delivery_scopes mine
        join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
        join delivery_scopes theirs on theirs.scope_id = v.scope_id and theirs.delivery_id = v.delivery_id
            and (mine.slice is null or theirs.slice = mine.slice)
        where mine.delivery_id = own.delivery_id
    ) h
    join scopes s on s.scope_id = h.scope_id
    where own.delivery_id = $1 and own.missing > h.missing
) more
order by 3, 1, 2
