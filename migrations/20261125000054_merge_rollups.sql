-- Sums were written in parts where a file had many keys, and added up by whoever read them: a month of 250,000 keys had three
-- million rows. Now there is one row a key, and one a key and day; what there is in parts is added up once.
do $$ begin
    execute $sql$
        create temporary table merged_days on commit drop as
        select billing_month, charge_key_id, delivery_id, scope_id, day, is_whole_period, sum(charges)::bigint as charges,
            sum(billed_cost) as billed_cost, sum(effective_cost) as effective_cost, sum(list_cost) as list_cost,
            sum(contracted_cost) as contracted_cost, sum(metered_quantity) as metered_quantity,
            bool_or(hourly_quantity is not null) as has_hours
        from daily_costs
        where delivery_id in (select delivery_id from monthly_costs where part > 0)
        group by 1, 2, 3, 4, 5, 6
        having count(*) > 1
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create temporary table merged_hours on commit drop as
        select billing_month, charge_key_id, delivery_id, day, is_whole_period,
            array_agg(quantity order by hour) as hourly_quantity
        from (
            select billing_month, charge_key_id, delivery_id, day, is_whole_period, of.hour, sum(of.quantity) as quantity
            from daily_costs d
            join merged_days m using (billing_month, charge_key_id, delivery_id, day, is_whole_period)
            cross join unnest(d.hourly_quantity) with ordinality of (quantity, hour)
            group by 1, 2, 3, 4, 5, 6
        ) hours
        group by 1, 2, 3, 4, 5
    $sql$;
end $$;
do $$ begin
    execute $sql$
        delete from daily_costs d
        using merged_days m
        where d.billing_month = m.billing_month and d.charge_key_id = m.charge_key_id and d.delivery_id = m.delivery_id
          and d.day = m.day and d.is_whole_period = m.is_whole_period
    $sql$;
end $$;
do $$ begin
    execute $sql$
        insert into daily_costs (billing_month, charge_key_id, delivery_id, scope_id, day, part, is_whole_period, charges,
            billed_cost, effective_cost, list_cost, contracted_cost, metered_quantity, hourly_quantity)
        select billing_month, charge_key_id, delivery_id, scope_id, day, 0, is_whole_period, charges, billed_cost,
            effective_cost, list_cost, contracted_cost, metered_quantity,
            case when has_hours then hourly_quantity end
        from merged_days
        left join merged_hours using (billing_month, charge_key_id, delivery_id, day, is_whole_period)
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create temporary table merged_months on commit drop as
        select billing_month, charge_key_id, delivery_id, scope_id, sum(charges)::bigint as charges,
            sum(billed_cost) as billed_cost, sum(effective_cost) as effective_cost, sum(list_cost) as list_cost,
            sum(contracted_cost) as contracted_cost, sum(metered_quantity) as metered_quantity
        from monthly_costs
        where delivery_id in (select delivery_id from monthly_costs where part > 0)
        group by 1, 2, 3, 4
    $sql$;
end $$;
do $$ begin
    execute 'delete from monthly_costs where delivery_id in (select delivery_id from merged_months)';
end $$;
do $$ begin
    execute $sql$
        insert into monthly_costs (billing_month, charge_key_id, delivery_id, scope_id, part, charges, billed_cost,
            effective_cost, list_cost, contracted_cost, metered_quantity)
        select billing_month, charge_key_id, delivery_id, scope_id, 0, charges, billed_cost, effective_cost, list_cost,
            contracted_cost, metered_quantity
        from merged_months
    $sql$;
end $$;
-- Imports write no more parts. The column goes with a later release, since a server of the version before writes it.
do $$ begin
    execute 'alter table daily_costs alter column part set default 0';
end $$;
do $$ begin
    execute 'alter table monthly_costs alter column part set default 0';
end $$;
