-- Of a month some providers write two files: what was billed, and what is effective. `states` says which of them a file is, and
-- `read_as` which of its costs count where it forms a delivery with the other one. Null: both.
alter table delivery_files
    add column states text check (states in ('billed', 'effective')),
    add column read_as text check (read_as in ('billed', 'effective'));
