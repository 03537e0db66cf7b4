-- Each month and currency as pages sum it, and as the files that count for it state it.
with page as (
    select m.billing_month, k.currency, sum(m.billed_cost) as billed, sum(m.effective_cost) as effective
    from monthly_costs m
    join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id and v.until_sequence is null
    join charge_keys k using (charge_key_id)
    group by 1, 2
),
files as (
    select s.billing_month, t.currency, sum(t.billed_cost) as billed, sum(t.effective_cost) as effective
    from visible_deliveries
    join delivery_totals t using (delivery_id, scope_id)
    join scopes s using (scope_id)
    group by 1, 2
)
select
    to_char(billing_month, 'YYYY-MM') || ', ' || side.cost || ' ' || currency as of,
    coalesce(side.page, 0) as left_side,
    coalesce(side.files, 0) as right_side
from page
full join files using (billing_month, currency)
cross join lateral (
    values ('billed', page.billed, files.billed), ('effective', page.effective, files.effective)
) as side (cost, page, files)
order by billing_month, currency, side.cost
