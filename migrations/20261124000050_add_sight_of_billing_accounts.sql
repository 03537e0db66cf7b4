-- Whether a lead sees which billing account pays for a charge: the rows of their teams name it, and mostly it pays for
-- everybody.
do $$ begin execute 'alter table users add column sees_billing_accounts boolean not null default false'; end $$;
