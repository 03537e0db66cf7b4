-- Exchange rates: what one unit of a currency was worth in a billing month. A rate is never changed: setting
-- another closes the interval of the one before, so a page that is asked as of a sequence converts as it did then.
create table exchange_rates (
    billing_month date not null check (extract(day from billing_month) = 1),
    -- One unit of this …
    currency text not null,
    -- … is worth `rate` of this.
    quoted_in text not null,
    rate numeric not null check (rate > 0),
    -- Where the rate comes from, in words.
    source text not null,
    from_sequence bigint not null,
    until_sequence bigint,
    set_at timestamptz not null,
    set_by text not null,
    primary key (billing_month, currency, quoted_in, from_sequence),
    check (currency <> quoted_in),
    check (until_sequence > from_sequence)
);

-- One rate of a month and pair holds at a time.
create unique index exchange_rates_that_hold on exchange_rates (billing_month, currency, quoted_in)
where until_sequence is null;

-- Setting rates is a step of the ledger, like publishing and undoing.
alter table ledger_log alter column delivery_id drop not null;
alter table ledger_log drop constraint ledger_log_action_check;
alter table ledger_log add constraint ledger_log_action_check
check (action in ('publish', 'undo', 'rates') and (delivery_id is null) = (action = 'rates'));

-- What holds for everyone who uses this ledger; one row.
create table organization (
    is_organization boolean primary key default true check (is_organization),
    -- The currency of the overview. Null: the one most used.
    reporting_currency text
);

insert into organization default values;
