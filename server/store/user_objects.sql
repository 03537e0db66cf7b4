-- What is in the database and was made by whoever uses it: all that is no system's and no extension's. Tables come first:
-- most of the others go with them.
select thing.kind, thing.name
from (
    select case c.relkind
               when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
               when 'f' then 'foreign table' when 'c' then 'type' else 'table'
           end as kind,
           format('%I.%I', n.nspname, c.relname) as name, 'pg_class'::regclass as of, c.oid
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c') and not c.relispartition
      and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
      and c.oid is distinct from to_regclass('unfinished_restore')
    union all
    select 'routine', p.oid::regprocedure::text, 'pg_proc'::regclass, p.oid
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
    union all
    select 'type', format('%I.%I', n.nspname, t.typname), 'pg_type'::regclass, t.oid
    from pg_type t
    join pg_namespace n on n.oid = t.typnamespace
    where t.typtype in ('d', 'e', 'r') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
) thing
where not exists (
    select from pg_depend d where d.classid = thing.of and d.objid = thing.oid and d.deptype = 'e'
)
order by thing.kind <> 'table', thing.kind, thing.name
