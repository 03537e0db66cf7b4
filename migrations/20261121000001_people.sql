-- People, how they sign in, and the links that let the first one in.
-- Small look-up tables: foreign keys among them are welcome, none of the ledger's tables points here.

create table users (
    user_id bigint generated always as identity primary key,
    email text not null check (email <> ''),
    name text,
    role text not null check (role in ('admin', 'finance', 'lead')),
    password_hash text not null,
    disabled_at timestamptz,
    created_at timestamptz not null
);

-- One person per address, however it is capitalised.
create unique index users_email_key on users (lower(email));

-- The teams a lead answers for, in the normalised spelling of the team tag.
create table user_teams (
    user_id bigint not null references users on delete cascade,
    team text not null check (team <> ''),
    primary key (user_id, team)
);

-- The token itself is only in the browser's cookie.
create table sessions (
    token_hash bytea primary key check (length(token_hash) = 32),
    user_id bigint not null references users on delete cascade,
    created_at timestamptz not null,
    seen_at timestamptz not null,
    expires_at timestamptz not null,
    user_agent text
);

create index sessions_user_id_idx on sessions (user_id);

-- The link to the first administrator's page, printed when a server starts and nobody has an account.
create table setup_links (
    token_hash bytea primary key check (length(token_hash) = 32),
    created_at timestamptz not null,
    expires_at timestamptz not null
);

-- Sign-ins that failed, kept for as long as they slow down the next one.
create table sign_in_failures (
    sign_in_failure_id bigint generated always as identity primary key,
    email text not null,
    address text not null,
    failed_at timestamptz not null
);

create index sign_in_failures_email_idx on sign_in_failures (email, failed_at);
create index sign_in_failures_address_idx on sign_in_failures (address, failed_at);
