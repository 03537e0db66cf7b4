-- What each scope of delivery $1 shows, by currency: now, of this delivery alone, if it replaced, and were it
-- undone.
with mine as (
    select scope_id from delivery_scopes where delivery_id = $1
),
counted as (
    select v.scope_id, v.delivery_id
    from visibility v
    join mine using (scope_id)
    where v.until_sequence is null
),
instead as (
    select c.scope_id, c.delivery_id
    from active_deliveries($1) c
    join mine using (scope_id)
),
replaced as (
    select scope_id, delivery_id from active_if_replaced_by($1)
),
sums as (
    select
        t.scope_id,
        t.currency,
        sum(t.billed_cost) filter (where c.delivery_id is not null) as now,
        sum(t.billed_cost) filter (where t.delivery_id = $1) as own,
        sum(t.billed_cost) filter (where r.delivery_id is not null) as replaced,
        sum(t.billed_cost) filter (where i.delivery_id is not null) as without
    from delivery_totals t
    join mine using (scope_id)
    left join counted c using (scope_id, delivery_id)
    left join instead i using (scope_id, delivery_id)
    left join replaced r using (scope_id, delivery_id)
    where t.delivery_id = $1 or c.delivery_id is not null or i.delivery_id is not null
    group by t.scope_id, t.currency
)
select
    s.provider,
    s.billing_account,
    s.billing_month,
    sums.currency,
    coalesce(sums.now, 0) as "now!: Decimal",
    coalesce(sums.own, 0) as "own!: Decimal",
    coalesce(sums.replaced, 0) as "replaced!: Decimal",
    coalesce(sums.without, 0) as "without!: Decimal",
    array(select c.delivery_id from counted c where c.scope_id = s.scope_id order by 1) as "counts_now!: Vec<i64>",
    array(select i.delivery_id from instead i where i.scope_id = s.scope_id order by 1) as "counts_without!: Vec<i64>"
from sums
join scopes s using (scope_id)
order by s.billing_month, s.provider, s.billing_account, sums.currency
