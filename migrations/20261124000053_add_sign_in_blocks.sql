-- The last pause of each account and place that the audit log tells of, so that each is one line there.
do $$ begin
    execute 'create table sign_in_blocks (
        -- 0 for any address that has no account.
        user_id bigint not null,
        address text not null,
        blocked_until timestamptz not null,
        primary key (user_id, address)
    )';
end $$;
