-- Rows of imports that are active nowhere any more are removed after some time: the import is archived. Its totals and its file
-- stay, and the file can load the rows again.
alter table deliveries add column archived_at timestamptz;
-- Behind `archived_at`, so that who had begun to read them is done by then.
alter table deliveries add column rows_removed_at timestamptz;
alter table deliveries add column loaded_again_at timestamptz;
-- Rows of it may be left, of an archiving or of loading them again that broke off.
alter table deliveries add column needs_cleaning boolean not null default false;
create index deliveries_to_clean on deliveries (delivery_id) where needs_cleaning;
create index deliveries_archived on deliveries (delivery_id) where archived_at is not null;
-- How long an import is kept with its rows after it was replaced or undone; null: for ever. A ledger from before loses nothing
-- until an administrator says so.
create table archiving (
    is_archiving boolean primary key default true check (is_archiving),
    after_hours integer check (after_hours between 0 and 87600)
);
insert into archiving (after_hours) select case when exists (select from deliveries) then null else 6 end;
-- What was active where a month was summed by key: with an archived import it is asked for no more.
alter table keyed_months add column deliveries bigint[] not null default '{}';
-- A job may load the rows of an archived import again. It has no files of its own.
alter table jobs add column reloads bigint references deliveries;
