-- What a key says goes together: an account is of one provider, a machine has one model of accelerators. PostgreSQL takes
-- columns for independent, expects a hundred times as many groups of accelerators as there are, and sorts millions of rows
-- of days with their 24 hours where it could add them up as they come. By this it knows how many groups there are.
create statistics charge_keys_together (ndistinct)
on provider, sub_account, category, pricing, instance_type, accelerator, accelerator_parts
from charge_keys;
