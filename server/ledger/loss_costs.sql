-- What deliveries $2 of scopes $1 cost in each currency, and deliveries $4 of scopes $3.
select
    currency as "currency!",
    sum(billed_before) as "billed_before!: Decimal",
    sum(billed_after) as "billed_after!: Decimal",
    sum(effective_before) as "effective_before!: Decimal",
    sum(effective_after) as "effective_after!: Decimal"
from (
    select currency, billed_cost as billed_before, 0 as billed_after, effective_cost as effective_before, 0 as effective_after
    from delivery_totals
    where (scope_id, delivery_id) in (select * from unnest($1::bigint[], $2::bigint[]))
    union all
    select currency, 0, billed_cost, 0, effective_cost
    from delivery_totals
    where (scope_id, delivery_id) in (select * from unnest($3::bigint[], $4::bigint[]))
) both_sides
group by currency
order by currency
