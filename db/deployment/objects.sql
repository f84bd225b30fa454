-- Schemas, relations, routines and types of the project, with owners, rights and comments, part by part, as the catalogue has it: what defines the part, the statement that
-- makes it so, and the one that takes it away. A deployment writes the answers down together with these queries, and
-- the next one compares. Run with an empty search_path, so that names are qualified.
--
-- object: what it is a part of, such as `table access.tiers`. part: '' for the object itself, else such as `column name`.
-- scope: api, data_set or durable. repair is null where no statement can bring back what is gone.

with schemas as materialized (
  select
    pg_namespace.oid, pg_namespace.nspname, pg_namespace.nspowner, pg_namespace.nspacl,
    case
      when pg_namespace.nspname ~ '^(request|(admin_)?api_v[0-9]+(_[0-9]+)*)$' then 'api'
      when pg_namespace.nspname in ('disclosed', 'suppressed', 'dissemination') then 'data_set'
      else 'durable'
    end as scope
  from pg_catalog.pg_namespace
  where pg_namespace.nspname in (
    'access', 'deployment', 'publication', 'disclosed', 'suppressed', 'dissemination', 'request', 'extensions', 'public'
  )
  -- A version schema that somebody else has made is not served.
  or (
    pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$'
    and pg_namespace.nspowner = (
      select request.nspowner from pg_catalog.pg_namespace as request where request.nspname = 'request'
    )
  )
),

deployer as (
  select schemas.nspowner as oid from schemas where schemas.nspname = 'deployment'
),

members as materialized (
  select pg_depend.classid, pg_depend.objid
  from pg_catalog.pg_depend
  where pg_depend.deptype = 'e'
),

relations as materialized (
  select
    pg_class.*, schemas.scope,
    format('%I.%I', schemas.nspname, pg_class.relname) as identity,
    case pg_class.relkind
      when 'v' then 'view'
      when 'm' then 'materialized view'
      when 'S' then 'sequence'
      when 'f' then 'foreign table'
      else 'table'
    end as kind
  from schemas
  join pg_catalog.pg_class on pg_class.relnamespace = schemas.oid and pg_class.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
  where not exists (
    select from members where members.classid = 'pg_catalog.pg_class'::regclass and members.objid = pg_class.oid
  )
),

routines as materialized (
  select
    pg_proc.*, schemas.scope, pg_proc.oid::regprocedure::text as identity,
    case pg_proc.prokind when 'a' then 'aggregate' when 'p' then 'procedure' else 'function' end as kind
  from schemas
  join pg_catalog.pg_proc on pg_proc.pronamespace = schemas.oid
  where not exists (
    select from members where members.classid = 'pg_catalog.pg_proc'::regclass and members.objid = pg_proc.oid
  )
),

types as materialized (
  select
    pg_type.*, schemas.scope, format('%I.%I', schemas.nspname, pg_type.typname) as identity,
    case pg_type.typtype when 'd' then 'domain' else 'type' end as kind
  from schemas
  join pg_catalog.pg_type on pg_type.typnamespace = schemas.oid
  left join pg_catalog.pg_class on pg_class.oid = pg_type.typrelid
  where (pg_type.typtype in ('d', 'e') or pg_class.relkind = 'c')
    and not exists (
      select from members where members.classid = 'pg_catalog.pg_type'::regclass and members.objid = pg_type.oid
    )
),

-- What may be granted, owned and commented.
objects as materialized (
  select
    'schema' as kind, format('%I', schemas.nspname) as identity, schemas.scope, schemas.oid,
    'pg_catalog.pg_namespace'::regclass as class, schemas.nspowner as owner, schemas.nspacl as acl, 'n'::"char" as acl_kind,
    'schema' as grant_kind
  from schemas
  union all
  select
    relations.kind, relations.identity, relations.scope, relations.oid, 'pg_catalog.pg_class'::regclass, relations.relowner,
    relations.relacl, case relations.relkind when 'S' then 's'::"char" else 'r'::"char" end,
    case relations.relkind when 'S' then 'sequence' else 'table' end
  from relations
  union all
  select
    routines.kind, routines.identity, routines.scope, routines.oid, 'pg_catalog.pg_proc'::regclass, routines.proowner,
    routines.proacl, 'f', 'routine'
  from routines
  union all
  select
    types.kind, types.identity, types.scope, types.oid, 'pg_catalog.pg_type'::regclass, types.typowner, types.typacl, 'T', 'type'
  from types
),

grants as (
  select
    objects.kind, objects.identity, objects.scope, objects.grant_kind, rights.grantee, objects.owner,
    string_agg(
      rights.privilege_type || case when rights.is_grantable then ' with grant option' else '' end,
      ', ' order by rights.privilege_type
    ) as privileges
  from objects
  cross join lateral aclexplode(coalesce(objects.acl, acldefault(objects.acl_kind, objects.owner))) as rights
  group by 1, 2, 3, 4, 5, 6
)

-- Objects themselves.
select
  'schema ' || schemas.nspname as object, '' as part, schemas.scope, '' as definition,
  case when schemas.scope <> 'data_set' then format('create schema %I', schemas.nspname) end as repair, null as removal
from schemas
union all
select
  relations.kind || ' ' || relations.identity, '', relations.scope,
  case when relations.relkind in ('v', 'm') then pg_get_viewdef(relations.oid) else '' end,
  case when relations.relkind = 'v' then
    format(
      'create or replace view %s%s as %s', relations.identity,
      ' with (' || array_to_string(relations.reloptions, ', ') || ')', pg_get_viewdef(relations.oid)
    )
  end,
  case when relations.relkind = 'v' then format('drop view if exists %s cascade', relations.identity) end
from relations
union all
select
  routines.kind || ' ' || routines.identity, '', routines.scope,
  case routines.prokind
    when 'a' then (
      select format(
        'aggregate %s %s %s', pg_aggregate.aggtransfn, pg_aggregate.aggtranstype::regtype, pg_aggregate.aggfinalfn
      )
      from pg_catalog.pg_aggregate where pg_aggregate.aggfnoid = routines.oid
    )
    else pg_get_functiondef(routines.oid)
  end,
  case when routines.prokind <> 'a' then pg_get_functiondef(routines.oid) end,
  format('drop routine if exists %s cascade', routines.identity)
from routines
union all
select
  types.kind || ' ' || types.identity, '', types.scope,
  case types.typtype
    when 'd' then format_type(types.typbasetype, types.typtypmod)
    when 'e' then (
      select coalesce(string_agg(format('value %s', pg_enum.enumlabel), E'\n' order by pg_enum.enumsortorder), '')
      from pg_catalog.pg_enum where pg_enum.enumtypid = types.oid
    )
    else (
      select string_agg(
        format('field %s %s', pg_attribute.attname, format_type(pg_attribute.atttypid, pg_attribute.atttypmod)),
        E'\n' order by pg_attribute.attnum
      )
      from pg_catalog.pg_attribute where pg_attribute.attrelid = types.typrelid and pg_attribute.attnum > 0
    )
  end,
  case types.typtype when 'd' then
    format('create domain %s as %s', types.identity, format_type(types.typbasetype, types.typtypmod))
  end,
  null
from types
union all

select
  types.kind || ' ' || types.identity, 'constraint ' || pg_constraint.conname, types.scope,
  pg_get_constraintdef(pg_constraint.oid),
  format('alter domain %s add constraint %I %s', types.identity, pg_constraint.conname, pg_get_constraintdef(pg_constraint.oid)),
  format('alter domain %s drop constraint if exists %I', types.identity, pg_constraint.conname)
from types
join pg_catalog.pg_constraint on pg_constraint.contypid = types.oid
where pg_constraint.contype = 'c'
union all
select
  relations.kind || ' ' || relations.identity, 'cast to ' || pg_cast.casttarget::regtype, relations.scope,
  format('%s %s', pg_cast.castmethod, pg_cast.castcontext), null,
  format('drop cast (%s as %s)', relations.identity, pg_cast.casttarget::regtype)
from relations
join pg_catalog.pg_cast on pg_cast.castsource = relations.reltype
union all
-- Owners, rights and comments.
select
  objects.kind || ' ' || objects.identity, 'owner', objects.scope,
  case when objects.owner = (select deployer.oid from deployer) then 'who deploys' else pg_get_userbyid(objects.owner)::text end,
  format('alter %s %s owner to %I', objects.kind, objects.identity, pg_get_userbyid(objects.owner)), null
from objects
where not (objects.kind = 'schema' and objects.identity = 'public')
union all
select
  grants.kind || ' ' || grants.identity,
  'grant to ' || case grants.grantee
    when 0 then 'public' when grants.owner then 'its owner' else pg_get_userbyid(grants.grantee)::text
  end,
  grants.scope, lower(grants.privileges),
  format(
    'revoke all on %1$s %2$s from %3$s; grant %4$s on %1$s %2$s to %3$s', grants.grant_kind, grants.identity,
    case grants.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grants.grantee)) end,
    replace(grants.privileges, ' with grant option', '')
  ),
  format(
    'revoke all on %s %s from %s', grants.grant_kind, grants.identity,
    case grants.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grants.grantee)) end
  )
from grants
where not (grants.kind = 'schema' and grants.identity = 'public')
union all
select
  objects.kind || ' ' || objects.identity, 'comment', objects.scope,
  -- publication.describe_data_set() adds which data set is live.
  regexp_replace(pg_description.description, '\n\nData set [0-9a-f-]{36}, published \S+$', ''),
  format('comment on %s %s is %L', objects.kind, objects.identity, pg_description.description),
  format('comment on %s %s is null', objects.kind, objects.identity)
from objects
join pg_catalog.pg_description on pg_description.objoid = objects.oid and pg_description.classoid = objects.class
  and pg_description.objsubid = 0
where not (objects.kind = 'schema' and objects.identity = 'public')
