-- The tags of the charges of delivery $1 and the cost that carries them, by currency; the $2 of the largest cost.
with keyed as (
    select k.tags, k.currency, sum(c.billed_cost) as billed_cost
    from monthly_costs c
    join charge_keys k using (charge_key_id)
    where c.delivery_id = $1
    group by 1, 2
),
in_all as (
    select currency, sum(billed_cost) as billed_cost from keyed group by 1
),
by_value as (
    select t.key as tag, t.value, keyed.currency, sum(keyed.billed_cost) as billed_cost
    from keyed
    cross join lateral jsonb_each_text(keyed.tags) t
    group by 1, 2, 3
)
select
    b.tag as "tag!",
    count(*) as "values!",
    coalesce((array_agg(b.value order by b.billed_cost desc, b.value))[1], '') as "largest!",
    b.currency as "currency!",
    sum(b.billed_cost) as "billed_cost!: Decimal",
    in_all.billed_cost as "of_cost!: Decimal"
from by_value b
join in_all using (currency)
group by b.tag, b.currency, in_all.billed_cost
order by 5 desc, 1, 4
limit $2
