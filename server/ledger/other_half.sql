-- Which imports have the other half of what delivery $1 states active in its months, and which of them it was loaded with. None
-- where it states both, or corrects rows of others.
with own as (
    select
        d.format,
        coalesce(bool_or(f.states is not distinct from 'effective') filter (where f.taken_from is null), false) as is_effective,
        coalesce(bool_or(f.states is not distinct from 'billed') filter (where f.taken_from is null), false) as is_billed,
        coalesce(array_agg(distinct f.taken_from order by f.taken_from) filter (where f.taken_from is not null), '{}') as taken
    from deliveries d
    join delivery_files f using (delivery_id)
    where d.delivery_id = $1
    group by d.format
)
select
    own.taken as "taken!",
    array(
        select distinct v.delivery_id
        from delivery_scopes mine
        join visibility v on v.scope_id = mine.scope_id and v.until_sequence is null
        join deliveries other on other.delivery_id = v.delivery_id and other.format = own.format and not other.completes
        join delivery_files f on f.delivery_id = other.delivery_id
        where mine.delivery_id = $1
          and other.delivery_id <> $1
          and own.is_effective <> own.is_billed
          and f.states = case when own.is_billed then 'effective' else 'billed' end
          and not exists (select from corrected_rejections c where c.delivery_id = $1)
        order by 1
    ) as "active!"
from own
