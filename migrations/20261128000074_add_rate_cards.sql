-- Rate cards are a document that people change, as prices are.
alter table documents drop constraint documents_kind_check;
alter table documents add constraint documents_kind_check check (kind in ('asset-register', 'prices', 'rate-cards'));
insert into documents (kind, version) values ('rate-cards', 0);
alter table changes drop constraint changes_kind_check;
alter table changes add constraint changes_kind_check check (kind in ('allocation', 'asset-register', 'prices', 'rate-cards'));
-- Usage that arrived without cost, by delivery, key and day: how much it is, how much of it a rate was for, and what that cost by it.
create table usage_without_cost (
    delivery_id bigint not null,
    scope_id bigint not null,
    charge_key_id uuid not null,
    day date not null,
    -- Of a large delivery there may be several of a day.
    part integer not null,
    charges bigint not null,
    quantity numeric not null,
    priced_quantity numeric not null,
    cost numeric not null,
    primary key (delivery_id, charge_key_id, day, scope_id, part)
);
-- Of deliveries with such usage: the version of the rate cards that priced it, the newest version and catalog of accelerators that it
-- was compared with, why it could not be priced by those, and when that is tried again where the machine failed.
alter table deliveries add column rates_version bigint;
alter table deliveries add column rates_compared bigint;
alter table deliveries add column rates_catalog bigint;
alter table deliveries add column rates_problem text;
alter table deliveries add column rates_retry_at timestamptz;
-- A delivery whose files were priced again: the one that was imported first, in whose place among the others it stands.
alter table deliveries add column reprices bigint references deliveries;
alter table deliveries add column place_sequence bigint;
-- They are undone together, at one step.
alter table deliveries drop constraint deliveries_undone_sequence_key;
create index deliveries_of_same_files on deliveries ((coalesce(reprices, delivery_id)));
create index deliveries_with_rates on deliveries (delivery_id) where rates_version is not null;
-- What is active in some scopes alone, as before; of deliveries that price the same files the one that was published last, in the
-- place of the first. Without one is without all of them.
do $$ begin
    execute $function$
        create or replace function active_in_scopes(touched bigint[], without bigint)
        returns table (scope_id bigint, delivery_id bigint)
        language sql stable
        as $body$
            with recursive
            -- Of the deliveries in these scopes that complete others: the rows for which theirs stand, back to those that were
            -- missing first.
            completed as (
                select d.delivery_id, m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no
                from deliveries d
                join corrected_rejections m on m.delivery_id = d.delivery_id
                where d.completes and d.status = 'loaded'
                  and d.delivery_id in (select ds.delivery_id from delivery_scopes ds where ds.scope_id = any(touched))
                union
                select c.delivery_id, m.corrects_delivery_id, m.corrects_file_no, m.corrects_row_no
                from completed c
                join corrected_rejections m
                  on m.delivery_id = c.corrects_delivery_id and m.file_no = c.corrects_file_no and m.row_no = c.corrects_row_no
            ),
            missing_first as (
                select distinct c.delivery_id, c.corrects_delivery_id as of_delivery
                from completed c
                left join corrected_rejections m
                  on m.delivery_id = c.corrects_delivery_id and m.file_no = c.corrects_file_no and m.row_no = c.corrects_row_no
                where m.delivery_id is null
            ),
            asked as (
                select ds.scope_id, ds.delivery_id from delivery_scopes ds where ds.scope_id = any(touched)
                union
                select ds.scope_id, ds.delivery_id
                from delivery_scopes ds
                where ds.delivery_id in (select f.of_delivery from missing_first f)
            ),
            left_out as (
                select coalesce(w.reprices, w.delivery_id) as first_delivery from deliveries w where w.delivery_id = without
            ),
            in_place as (
                select ds.scope_id, ds.delivery_id
                from asked
                join delivery_scopes ds on ds.scope_id = asked.scope_id and ds.delivery_id = asked.delivery_id
                join deliveries d on d.delivery_id = ds.delivery_id
                where d.status = 'loaded'
                  and coalesce(d.reprices, d.delivery_id) not in (select l.first_delivery from left_out l)
                  and not exists (
                      select
                      from delivery_scopes replacing
                      join deliveries later on later.delivery_id = replacing.delivery_id
                      where replacing.scope_id = ds.scope_id
                        and later.status = 'loaded'
                        and coalesce(later.reprices, later.delivery_id) not in (select l.first_delivery from left_out l)
                        and case
                            when coalesce(later.reprices, later.delivery_id) = coalesce(d.reprices, d.delivery_id)
                            then later.published_sequence > d.published_sequence
                            else coalesce(later.place_sequence, later.published_sequence)
                                > coalesce(d.place_sequence, d.published_sequence)
                                and not replacing.is_addition
                                and (
                                    replacing.slice is null
                                    or replacing.slice = ds.slice
                                    or (ds.slice is not null and later.format is distinct from d.format and replacing.days && ds.days)
                                )
                        end
                  )
            )
            select p.scope_id, p.delivery_id
            from in_place p
            where p.scope_id = any(touched)
              and p.delivery_id not in (
                  select f.delivery_id
                  from missing_first f
                  where f.of_delivery not in (select q.delivery_id from in_place q)
              )
        $body$
    $function$;
end $$;
