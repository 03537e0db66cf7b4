-- People are administered: invited by a link, disabled, signed out; scripts read with tokens; what anyone
-- writes is written down.

-- Someone who was invited and has not chosen a password yet has none.
alter table users alter column password_hash drop not null;
-- When they last opened a page, whatever became of the session.
alter table users add column seen_at timestamptz;

-- A number that a form can name, since the token's hash is nobody's business.
alter table sessions add column session_id bigint generated always as identity;
alter table sessions add column address text;
create unique index sessions_session_id_key on sessions (session_id);

-- One-time links by which people choose a password. A new one takes the place of the one before.
create table password_links (
    user_id bigint primary key references users on delete cascade,
    token_hash bytea not null unique check (length(token_hash) = 32),
    created_at timestamptz not null,
    expires_at timestamptz not null
);

-- Tokens by which scripts read what their owner may see. One that was revoked is gone.
create table api_tokens (
    api_token_id bigint generated always as identity primary key,
    user_id bigint not null references users on delete cascade,
    token_hash bytea not null unique check (length(token_hash) = 32),
    label text not null check (label <> ''),
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz
);

create unique index api_tokens_label_key on api_tokens (user_id, lower(label));

-- What was written, by whom. Rows are only added. Names are kept as they were: nothing here points elsewhere.
create table audit_log (
    audit_id bigint generated always as identity primary key,
    happened_at timestamptz not null,
    -- An e-mail address, or the command line with the user of the machine.
    actor text not null,
    address text,
    verb text not null,
    -- What it was done to: a kind that a page knows to link, its number there, and how it was called.
    object_kind text not null,
    object_id text not null,
    object_name text not null,
    details jsonb not null
);

create index audit_log_actor_idx on audit_log (lower(actor), audit_id);
create index audit_log_object_idx on audit_log (object_kind, lower(object_name), audit_id);
create index audit_log_verb_idx on audit_log (verb, audit_id);
