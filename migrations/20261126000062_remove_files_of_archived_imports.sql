-- Days that a file is kept which only archived imports have; null: for ever. When somebody set it, since the first files are
-- removed a day later.
alter table archiving
    add column files_after_days integer check (files_after_days between 1 and 3650),
    add column files_set_at timestamptz;
