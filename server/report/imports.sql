-- The deliveries $1, or those that wait for a decision; newest first. Amounts travel as text inside the JSON, so that no
-- digit is lost.
select
    d.delivery_id,
    d.status,
    d.format,
    d.message,
    d.rows_read,
    d.charges,
    d.further_charges,
    d.rejected,
    d.skipped,
    d.created_at,
    d.created_by,
    d.published_sequence,
    d.undone_sequence,
    d.archived_at,
    d.unknown_columns,
    d.absent_columns,
    d.notes,
    d.noisy_tags,
    d.suggested_decision,
    d.awaits_review,
    coalesce(
        d.rates_version < (select version from documents where kind = 'rate-cards'), false
    ) as "is_priced_before!",
    array(
        select distinct v.delivery_id from visibility v where v.until_sequence = d.published_sequence order by 1
    ) as "replaced!",
    array(
        select distinct later.delivery_id
        from visibility v
        join deliveries later on later.published_sequence = v.until_sequence
        where v.delivery_id = d.delivery_id
          and d.status = 'loaded'
          and later.status = 'loaded'
          and not exists (
              select from visibility again
              where again.delivery_id = d.delivery_id and again.scope_id = v.scope_id and again.until_sequence is null
          )
        order by 1
    ) as "superseded_by!",
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
where case when $1::bigint[] is null then d.status = 'waiting' else d.delivery_id = any ($1) end
order by d.delivery_id desc
