-- Sums by owner tell what is owned from what is paid for: hours of the organization's own machines are no hours paid for.
-- Tables that say the pricing of what was bought tell it already. Rows from before are of a version that nobody asks for any
-- more (`keyed::VERSION`): what they were is made again when it is asked for, and they are forgotten after a month. They are
-- not emptied, since an older program may read them still; nor are they written anew, since a column with a default is not.
do $$ begin
    execute 'alter table attributed_costs add column is_owned boolean not null default false';
end $$;
do $$ begin
    execute 'alter table attributed_days add column is_owned boolean not null default false';
end $$;
do $$ begin
    execute 'alter table charged_days add column is_owned boolean not null default false';
end $$;
