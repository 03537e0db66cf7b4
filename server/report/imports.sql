-- At most $4 deliveries, newest first: only $1, those before $2, those that wait for a decision or not ($3).
-- What a running import of the browser shows already is no history yet. Amounts travel as text inside the JSON, so that
-- no digit is lost.
select
    d.delivery_id,
    d.status,
    d.format,
    d.message,
    d.rows_read,
    d.charges,
    d.rejected,
    d.skipped,
    d.created_at,
    d.created_by,
    d.published_sequence,
    d.undone_sequence,
    d.unknown_columns,
    d.absent_columns,
    d.notes,
    d.noisy_tags,
    array(select f.name from delivery_files f where f.delivery_id = d.delivery_id order by f.file_no) as "files!",
    coalesce(
        (
            select jsonb_agg(
                jsonb_build_object(
                    'provider', s.provider,
                    'billing_account', s.billing_account,
                    'billing_month', s.billing_month,
                    'currency', t.currency,
                    'billed_cost', t.billed_cost::text,
                    'effective_cost', t.effective_cost::text,
                    'charges', t.charges,
                    'is_counted', exists (
                        select from visibility v
                        where v.delivery_id = t.delivery_id and v.scope_id = t.scope_id and v.until_sequence is null
                    ),
                    'is_provisional', ds.is_provisional
                )
                order by s.billing_month, s.provider, s.billing_account, t.currency
            )
            from delivery_totals t
            join scopes s using (scope_id)
            join delivery_scopes ds using (delivery_id, scope_id)
            where t.delivery_id = d.delivery_id
        ),
        '[]'
    ) as "scopes!: Json<Vec<ImportScope>>"
from deliveries d
where ($1::bigint[] is null or d.delivery_id = any ($1))
  and ($2::bigint is null or d.delivery_id < $2)
  and ($3::boolean is null or (d.status = 'waiting') = $3)
  and (
      $3::boolean is null
      or d.status <> 'loading'
      or not exists (select from jobs j where j.batch_id = d.batch_id and j.status in ('queued', 'running'))
  )
order by d.delivery_id desc
limit $4
