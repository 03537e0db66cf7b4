with lines as (
    select coalesce(decided_at, proposed_at, drafted_at) as at, drafted_by as by, change_id, null::bigint as delivery_id,
        applied_sequence as sequence, false as is_undo, 'change' as kind,
        case when status = 'draft' and proposed_at is not null then 'proposed' else status end as stage
    from allocation_changes
    union all
    select undone_at, coalesce(undone_by, drafted_by), change_id, null, undone_sequence, true, 'change', status
    from allocation_changes
    where undone_at is not null
    union all
    select l.happened_at, l.happened_by, null, l.delivery_id, l.sequence, l.action = 'undo',
        case
            when l.delivery_id is not null then 'delivery'
            when l.action = 'rates' then 'rates'
            when exists (
                select from quantities q where q.from_sequence = l.sequence or q.until_sequence = l.sequence
            ) then 'quantities'
            else 'reporting-currency'
        end,
        case when d.undone_sequence is null then 'applied' else 'undone' end
    from ledger_log l
    left join deliveries d using (delivery_id)
    where not exists (
        select from allocation_changes c where l.sequence in (c.applied_sequence, c.undone_sequence)
    )
)
select at as "at!", by as "by!", change_id, delivery_id, sequence, is_undo as "is_undo!", kind as "kind!",
    stage as "stage!", count(*) over () as "lines!",
    array(
        select f.name from delivery_files f where f.delivery_id = lines.delivery_id order by f.file_no
    ) as "files!"
from lines
where ($1::text is null or stage = $1)
  and ($2::text is null or by = $2)
  and ($3::bigint[] is null or sequence = any($3))
order by at desc, sequence desc nulls first, change_id desc, is_undo desc
limit $4 offset $5
