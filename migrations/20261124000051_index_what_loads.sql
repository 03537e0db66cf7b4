-- Whether something is being loaded is asked with each page.
do $$ begin execute 'create index deliveries_loading_idx on deliveries (delivery_id) where status = ''loading'''; end $$;
