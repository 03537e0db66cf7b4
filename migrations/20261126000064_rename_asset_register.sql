-- The register is the asset register, as accountants call it.
do $$ begin execute 'alter table register rename to asset_register'; end $$;
do $$ begin execute 'alter table register_entries rename to asset_register_entries'; end $$;
do $$ begin execute 'alter table register_changes rename to asset_register_changes'; end $$;
do $$ begin execute 'alter sequence register_entry_ids rename to asset_register_entry_ids'; end $$;
