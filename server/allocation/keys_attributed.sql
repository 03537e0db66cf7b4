-- How many keys a month ($1) has as of a sequence ($2), and how many of them a mapping ($3) covers.
select count(*) as "keys!", count(ka.charge_key_id) as "attributed!"
from (
    select distinct m.charge_key_id
    from monthly_costs m
    join visibility v on v.delivery_id = m.delivery_id and v.scope_id = m.scope_id
    where m.billing_month = $1 and v.from_sequence <= $2 and (v.until_sequence is null or v.until_sequence > $2)
) keys
left join key_attributions ka on ka.charge_key_id = keys.charge_key_id and ka.set_id = $3
