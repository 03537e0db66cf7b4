-- The definition of *what counts*, in one place: per scope every published delivery that was not undone and
-- that no later one replaced. A delivery of the whole month replaces all before it; a slice replaces the
-- same slice; an addition replaces nothing. Asked without a delivery, it says what would count were that
-- one undone. The table `visibility` is the history of this.
create function counting_deliveries(without bigint)
returns table (scope_id bigint, delivery_id bigint)
language sql stable
as $$
    select ds.scope_id, ds.delivery_id
    from delivery_scopes ds
    join deliveries d on d.delivery_id = ds.delivery_id
    where d.status = 'loaded'
      and d.delivery_id is distinct from without
      and not exists (
          select
          from delivery_scopes replacing
          join deliveries later on later.delivery_id = replacing.delivery_id
          where replacing.scope_id = ds.scope_id
            and later.status = 'loaded'
            and later.delivery_id is distinct from without
            and later.published_sequence > d.published_sequence
            and not replacing.is_addition
            and (replacing.slice is null or replacing.slice = ds.slice)
      )
$$;

create view visible_deliveries as
select scope_id, delivery_id from counting_deliveries(null);
