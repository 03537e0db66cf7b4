-- Most charges have one cost: what is billed is what it cost, by contract and by the list. Such a cost is not written down again
-- with each charge. Null: as billed.
do $$ begin execute 'alter table charges alter column effective_cost drop not null'; end $$;
do $$ begin execute 'alter table charges alter column list_cost drop not null'; end $$;
do $$ begin execute 'alter table charges alter column contracted_cost drop not null'; end $$;
-- Charges with all of their costs, for whoever reads these.
do $$ begin
    execute 'create view full_charges as
        select billing_month, charge_key_id, delivery_id, scope_id, row_no, file_no, is_metered, charge_period_start,
            charge_period_end, billed_cost, coalesce(effective_cost, billed_cost) as effective_cost,
            coalesce(list_cost, billed_cost) as list_cost, coalesce(contracted_cost, billed_cost) as contracted_cost,
            consumed_quantity, resource_id, tag_set_id
        from charges';
end $$;
