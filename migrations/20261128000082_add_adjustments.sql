-- Discounts, markups and monthly minimums are a document that people change, as rate cards are.
do $$ begin execute 'alter table documents drop constraint documents_kind_check'; end $$;
do $$ begin
    execute $sql$
        alter table documents add constraint documents_kind_check
            check (kind in ('asset-register', 'prices', 'rate-cards', 'adjustments'))
    $sql$;
end $$;
insert into documents (kind, version) values ('adjustments', 0);
do $$ begin execute 'alter table changes drop constraint changes_kind_check'; end $$;
do $$ begin
    execute $sql$
        alter table changes add constraint changes_kind_check
            check (kind in ('allocation', 'asset-register', 'prices', 'rate-cards', 'adjustments'))
    $sql$;
end $$;
-- What is computed from them stands beside the bill that it adjusts, in a scope of its own, so that the bill agrees with its invoices.
do $$ begin execute 'alter table scopes add column adjusts bigint references scopes'; end $$;
-- Of an import of adjustments: whether the bill changed and what adjusts it did not, so that its month is final with it and no sooner.
do $$ begin execute 'alter table deliveries add column follows_bill boolean'; end $$;
-- Bills that something adjusts.
do $$ begin
    execute $sql$
        create table adjusted_bills (
            scope_id bigint primary key references scopes,
            -- A hash of what they were computed from: the active imports of the bill, and what holds of it. Empty where they are to be
            -- computed again.
            inputs bytea not null,
            -- Null where there was nothing to adjust.
            delivery_id bigint references deliveries,
            -- What of it is not adjusted as one may expect, and why.
            note text,
            -- Why they could not be computed, and when that is tried again where the machine failed.
            problem text,
            retry_at timestamptz,
            computed_at timestamptz not null
        )
    $sql$;
end $$;
-- As of when all bills were compared with what adjusts them: nothing is due while that is the same.
do $$ begin
    execute $sql$
        create table adjustments_compared (
            is_only boolean primary key default true check (is_only),
            sequence bigint not null,
            adjustments_version bigint not null,
            rates_version bigint not null,
            catalog bigint not null,
            day date not null
        )
    $sql$;
end $$;
