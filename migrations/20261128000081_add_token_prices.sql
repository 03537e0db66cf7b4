-- What suppliers ask for a million tokens of a model, each as somebody read it on a day. Never deleted: what is removed can be
-- brought back.
create table token_prices (
    token_price_id bigint generated always as identity primary key,
    supplier text not null,
    model text not null,
    kind text not null check (kind in ('input', 'cached-input', 'cache-write', 'output', 'other')),
    -- Of a million.
    price numeric not null check (price >= 0),
    currency text not null,
    read_on date not null,
    source text not null,
    added_at timestamptz not null,
    added_by text not null,
    removed_at timestamptz,
    removed_by text,
    check ((removed_at is null) = (removed_by is null))
);
