-- The definition of *visible*, in one place: per scope the last published delivery that replaced, and
-- every addition published since, without those that were undone. The table `visibility` is its history.
create view visible_deliveries as
select ds.scope_id, ds.delivery_id
from delivery_scopes ds
join deliveries d using (delivery_id)
where d.status = 'loaded'
  and d.published_sequence >= coalesce(
      (
          select max(later.published_sequence)
          from delivery_scopes replacing
          join deliveries later using (delivery_id)
          where replacing.scope_id = ds.scope_id
            and later.status = 'loaded'
            and not replacing.is_addition
      ),
      0
  );
