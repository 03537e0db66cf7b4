-- Invoices as they were received: what the sum of a month's charges must agree with. They are no charges, and
-- nothing adds them to any.
create table invoices (
    invoice_id bigint generated always as identity primary key,
    scope_id bigint not null references scopes,
    currency text not null,
    -- As the issuer numbers it.
    number text not null check (number <> ''),
    -- With tax. Negative: a credit note.
    amount numeric not null,
    entered_at timestamptz not null,
    entered_by text not null,
    -- The same paper is not counted twice.
    unique (scope_id, currency, number)
);
