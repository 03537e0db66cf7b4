-- Pages ask for the accelerators that a commitment covers, in this month or another: of 600,000 keys, its own. Few keys bear
-- accelerators, and fewer are under a commitment.
do $$ begin
    execute $sql$
        create index charge_keys_by_commitment on charge_keys (commitment_discount_id, accelerator)
        where accelerator is not null and commitment_discount_id <> ''
    $sql$;
end $$;
