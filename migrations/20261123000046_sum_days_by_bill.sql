-- A month that goes on is compared with the same days of the month before, bill by bill, and what belongs to no day by its
-- category and service: sums by owner and day tell them. Rows from before are of a version that nobody asks for any more
-- (`keyed::VERSION`), as with what is owned.
do $$ begin
    execute 'alter table attributed_days add column scope_id bigint not null default 0';
end $$;
do $$ begin
    execute $sql$alter table attributed_days add column category text not null default ''$sql$;
end $$;
do $$ begin
    execute $sql$alter table attributed_days add column service text not null default ''$sql$;
end $$;
do $$ begin
    execute 'alter table charged_days add column scope_id bigint not null default 0';
end $$;
do $$ begin
    execute $sql$alter table charged_days add column category text not null default ''$sql$;
end $$;
do $$ begin
    execute $sql$alter table charged_days add column service text not null default ''$sql$;
end $$;

-- What belongs to no day: a few rows among those of every day.
do $$ begin
    execute 'create index daily_costs_of_whole_periods on daily_costs (scope_id, delivery_id) where is_whole_period';
end $$;
