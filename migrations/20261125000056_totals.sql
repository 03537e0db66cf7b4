-- A fleet has a key for each of its machines. What pages ask first needs no machine and no tag, so a delivery is summed by its
-- keys without these, too. Such a plain key is a charge key like any other.
do $$ begin
    execute $sql$
        create table monthly_totals (
            billing_month date not null,
            charge_key_id uuid not null,
            delivery_id bigint not null,
            scope_id bigint not null,
            charges bigint not null,
            billed_cost numeric not null,
            effective_cost numeric not null,
            list_cost numeric not null,
            contracted_cost numeric not null,
            metered_quantity numeric not null,
            primary key (delivery_id, charge_key_id, billing_month)
        ) partition by range (billing_month)
    $sql$;
end $$;
do $$ begin
    execute $sql$
        create table daily_totals (
            billing_month date not null,
            charge_key_id uuid not null,
            delivery_id bigint not null,
            scope_id bigint not null,
            day date not null,
            is_whole_period boolean not null,
            charges bigint not null,
            billed_cost numeric not null,
            effective_cost numeric not null,
            list_cost numeric not null,
            contracted_cost numeric not null,
            metered_quantity numeric not null,
            primary key (delivery_id, charge_key_id, day, is_whole_period, billing_month)
        ) partition by range (billing_month)
    $sql$;
end $$;
do $$
declare
    month record;
    kind text;
begin
    for month in
        select right(c.relname, 7) as suffix, to_date(right(c.relname, 7), 'YYYY_MM') as first_day
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'monthly_costs'::regclass
    loop
        foreach kind in array array['monthly_totals', 'daily_totals'] loop
            execute format(
                'create table %I partition of %I for values from (%L) to (%L)',
                kind || '_' || month.suffix, kind, month.first_day, (month.first_day + interval '1 month')::date
            );
        end loop;
    end loop;
end $$;
-- What imports of earlier versions wrote. The id of a key that none of them wrote is another hash than an import would give
-- it, which is harmless: an id is looked up and never computed from a row.
do $$ begin
    execute $sql$
        create temporary table plain_keys on commit drop as
        select charge_key_id, case when resource_id is null and tags = '{}' then charge_key_id else md5(row(
            provider, billing_account, sub_account, service, service_category, sku, region, instance_type, meter,
            stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit, currency,
            is_unused_commitment)::text)::uuid end as plain_key_id
        from charge_keys
        where charge_key_id in (select charge_key_id from monthly_costs)
    $sql$;
end $$;
do $$ begin
    execute $sql$
        insert into charge_keys (charge_key_id, provider, billing_account, sub_account, service, service_category, sku, region,
            instance_type, meter, stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit, currency,
            resource_id, tags, accelerator, accelerator_parts, unit_seconds, catalog_version, is_unused_commitment)
        select distinct on (plain_key_id) plain_key_id, provider, billing_account, sub_account, service, service_category, sku,
            region, instance_type, meter, stated_accelerators, category, is_correction, pricing, commitment_discount_id, unit,
            currency, null, '{}', accelerator, accelerator_parts, unit_seconds, catalog_version, is_unused_commitment
        from charge_keys
        join plain_keys using (charge_key_id)
        on conflict do nothing
    $sql$;
end $$;
do $$ begin
    execute $sql$
        insert into monthly_totals
        select billing_month, plain_key_id, delivery_id, scope_id, sum(charges), sum(billed_cost), sum(effective_cost),
            sum(list_cost), sum(contracted_cost), sum(metered_quantity)
        from monthly_costs
        join plain_keys using (charge_key_id)
        group by 1, 2, 3, 4
    $sql$;
end $$;
do $$ begin
    execute $sql$
        insert into daily_totals
        select billing_month, plain_key_id, delivery_id, scope_id, day, is_whole_period, sum(charges), sum(billed_cost),
            sum(effective_cost), sum(list_cost), sum(contracted_cost), sum(metered_quantity)
        from daily_costs
        join plain_keys using (charge_key_id)
        group by 1, 2, 3, 4, 5, 6
    $sql$;
end $$;
