-- How large an uploaded file may be, and how much of the disk uploads leave free. No row: nobody has set either.
create table upload_limits (
    is_upload_limits boolean primary key default true check (is_upload_limits),
    -- Null: any size.
    largest_file_bytes bigint check (largest_file_bytes > 0),
    kept_free_bytes bigint not null check (kept_free_bytes > 0)
);
