-- Comparisons that people keep: where work should run. A version is kept as it was saved and never changed; what is
-- restored is saved again. What was removed can be brought back.
create table scenarios (
    scenario_id bigint generated always as identity primary key,
    owner_id bigint not null references users,
    -- The last one.
    version bigint not null check (version > 0),
    made_at timestamptz not null,
    made_by text not null,
    removed_at timestamptz,
    removed_by text,
    check ((removed_at is null) = (removed_by is null))
);

create table scenario_versions (
    scenario_id bigint not null references scenarios,
    version bigint not null check (version > 0),
    content jsonb not null,
    -- What it came to when it was saved, for lists.
    cheapest text,
    cost_per_hour numeric,
    reason text,
    saved_at timestamptz not null,
    saved_by text not null,
    primary key (scenario_id, version)
);

-- Whom a scenario is shown to beyond its owner and who sees everything anyway: leads of a team, or one by their address.
create table scenario_shares (
    scenario_id bigint not null references scenarios,
    kind text not null check (kind in ('team', 'person')),
    name text not null check (name <> ''),
    primary key (scenario_id, kind, name)
);
