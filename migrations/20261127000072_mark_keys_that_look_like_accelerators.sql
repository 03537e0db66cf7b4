-- Keys that look like accelerators and are none that is known, so that pages which list them read no others. `machine`: their time
-- is not counted; `model`: it is, as of an unknown model. Keys of before are looked at when the server starts.
alter table charge_keys add column unrecognized text;
create index charge_keys_unrecognized on charge_keys (charge_key_id) where unrecognized is not null;
