with lines as (
    select coalesce(decided_at, proposed_at, made_at) as at, made_by as by, change_id, null::bigint as delivery_id,
        case kind when 'allocation' then applied_version end as sequence, false as is_undo, kind, status
    from changes
    union all
    select undone_at, coalesce(undone_by, made_by), change_id, null,
        case kind when 'allocation' then undone_version end, true, kind, status
    from changes
    where undone_at is not null
    union all
    select l.happened_at, l.happened_by, null, l.delivery_id, l.sequence, l.action = 'undo',
        case
            when l.delivery_id is not null then 'imports'
            when l.action = 'rates' then 'rates'
            when l.action = 'usage' then 'usage'
            when exists (
                select from quantities q where q.from_sequence = l.sequence or q.until_sequence = l.sequence
            ) then 'quantities'
            else 'reporting-currency'
        end,
        case when d.undone_sequence is null then 'applied' else 'undone' end
    from ledger_log l
    left join deliveries d using (delivery_id)
    where not exists (
        select from changes c where c.kind = 'allocation' and l.sequence in (c.applied_version, c.undone_version)
    )
)
select at as "at!", by as "by!", change_id, delivery_id, sequence, is_undo as "is_undo!", kind as "kind!: EventKind",
    status as "status!", count(*) over () as "lines!",
    array(
        select f.name from delivery_files f where f.delivery_id = lines.delivery_id order by f.file_no
    ) as "files!"
from lines
where ($1::text is null or status = $1)
  and ($2::text is null or by = $2)
  and ($3::text is null or kind = $3)
  and ($4::bigint[] is null or sequence = any($4))
order by at desc, sequence desc nulls first, kind, change_id desc, is_undo desc
limit $5 offset $6
