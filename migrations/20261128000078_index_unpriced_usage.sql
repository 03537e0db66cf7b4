-- What has no price is a small part of all usage without cost, and each first view of a month asks for it.
create index unpriced_usage on usage_without_cost (scope_id, delivery_id) where quantity <> priced_quantity;
