-- What the file of a cluster's month says, and what of that pages and rules divide costs by: by these a month that counts
-- is compared with the register without making the file again. None of files that were made before.
alter table cluster_months
    add column content_sha256 bytea check (length(content_sha256) = 32),
    add column amounts_sha256 bytea check (length(amounts_sha256) = 32);
