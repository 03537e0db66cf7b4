-- What the ledger holds of the rows of a file, in their order: a charge, or that the row was rejected.
select
    c.row_no,
    c.charge_key_id,
    c.tag_set_id,
    c.billing_month,
    c.charge_period_start,
    c.charge_period_end,
    c.is_metered,
    c.billed_cost,
    c.effective_cost,
    c.list_cost,
    c.contracted_cost,
    c.consumed_quantity
from full_charges c
where c.delivery_id = $1 and c.file_no = $2
union all
select r.row_no, null, null, null, null, null, null, null, null, null, null, null
from rejections r
where r.delivery_id = $1 and r.file_no = $2
order by 1
