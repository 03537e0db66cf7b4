-- A row can be more than one charge: of Google's bill, a row and each of its credits.
alter table deliveries add column further_charges bigint not null default 0;
