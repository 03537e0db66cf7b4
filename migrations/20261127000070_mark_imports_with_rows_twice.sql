-- Whether rows stand twice in the files of an import. Then no row is read as a part of another one.
alter table deliveries add column has_rows_twice boolean not null default false;
