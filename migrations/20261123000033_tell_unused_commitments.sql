-- Sums by owner tell what of a commitment nothing used from what was used: it is in no price of an hour. Rows from before are
-- of a version that nobody asks for any more (`keyed::VERSION`), as with what is owned.
do $$ begin
    execute 'alter table keyed_costs add column is_unused_commitment boolean not null default false';
end $$;
do $$ begin
    execute 'alter table attributed_costs add column is_unused boolean not null default false';
end $$;
do $$ begin
    execute 'alter table attributed_days add column is_unused boolean not null default false';
end $$;
do $$ begin
    execute 'alter table charged_days add column is_unused boolean not null default false';
end $$;
do $$ begin
    execute 'alter table charged_items add column is_unused_commitment boolean not null default false';
end $$;
