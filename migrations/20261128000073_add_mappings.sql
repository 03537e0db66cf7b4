-- How files are read that no format knows, as people said. A row is a version: none is changed or deleted, since what was
-- imported by it is read by it again.
create table mappings (
    mapping_id bigint generated always as identity primary key,
    name text not null,
    version integer not null check (version > 0),
    -- The text that is exported, in TOML.
    document text not null,
    saved_at timestamptz not null,
    saved_by text not null,
    -- Whether the next file is not to be read by it any more; of the newest version.
    removed_at timestamptz,
    removed_by text,
    unique (name, version)
);
