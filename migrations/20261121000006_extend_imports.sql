-- Uploads tell how far they are in bytes, and can be cancelled; what a person discarded is not what was refused.
alter table jobs add column bytes_read bigint not null default 0;
alter table jobs add column cancelled_by text;
alter table jobs drop constraint jobs_status_check;
alter table jobs add constraint jobs_status_check
    check (status in ('queued', 'running', 'done', 'failed', 'cancelled'));

alter table deliveries drop constraint deliveries_status_check;
alter table deliveries add constraint deliveries_status_check
    check (status in ('loading', 'waiting', 'loaded', 'undone', 'refused', 'failed', 'discarded', 'cancelled'));
-- Until now a discarded delivery was called refused.
update deliveries set status = 'discarded' where status = 'refused' and message like 'Discarded by %';
