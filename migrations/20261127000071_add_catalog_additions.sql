-- What an organization adds to the catalog of accelerators that is shipped: machines, and texts that name a model. A row is
-- never deleted: when it is removed it says so, and the number of rows and removals counts the changes.
create table catalog_additions (
    addition_id bigint generated always as identity primary key,
    -- Empty: a text that names a model, whoever bills it.
    provider text not null,
    name text not null,
    model text not null,
    -- How many a machine holds, such as 8 or 1/6. Null: a text.
    accelerators text,
    -- The machine whose other name it is. Null: one by itself.
    same_as text,
    source text not null,
    added_at timestamptz not null,
    added_by text not null,
    removed_at timestamptz,
    removed_by text
);
