-- Kinds of charges that may count tokens: pages ask whether there are any.
create index charge_keys_of_tokens on charge_keys (charge_key_id)
where unit ilike '%token%' or meter ilike '%token%' or sku ilike '%token%';
