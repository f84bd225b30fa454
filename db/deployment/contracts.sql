-- What each API schema of this database serves, in the format of db/contracts: one row for each schema, in the order in which
-- they are served.

with schemas as materialized (
  select served_schemas.name as schema_name, served_schemas.place, pg_namespace.*
  from publication.served_schemas
  join pg_catalog.pg_namespace on pg_namespace.oid = served_schemas.oid
), rights as materialized (
  -- The roles that have a privilege, without the owner.
  select object, privilege_type, array_agg(role order by role) as roles
  from (
    select granted.object, privilege_type, case grantee when 0 then 'public' else grantee::regrole::text end as role
    from (
      select oid as object, nspowner as owner, coalesce(nspacl, acldefault('n', nspowner)) as acl from schemas
      union all
      select pg_class.oid, relowner, coalesce(relacl, acldefault('r', relowner))
      from pg_catalog.pg_class join schemas on schemas.oid = relnamespace
      union all
      select pg_proc.oid, proowner, coalesce(proacl, acldefault('f', proowner))
      from pg_catalog.pg_proc join schemas on schemas.oid = pronamespace
    ) as granted
    cross join lateral aclexplode(granted.acl)
    where grantee <> granted.owner
  ) as named
  group by object, privilege_type
), relations as materialized (
  select
    pg_class.oid,
    relnamespace,
    relname,
    relkind,
    (
      select json_agg(
        json_build_object(
          'name', attname,
          'type', replace(upper(format_type(atttypid, atttypmod)), 'CHARACTER VARYING', 'VARCHAR')
        ) order by attnum
      )
      from pg_catalog.pg_attribute
      where attrelid = pg_class.oid and attnum > 0 and not attisdropped
    ) as columns
  from pg_catalog.pg_class join schemas on schemas.oid = relnamespace
), views as (
  select relnamespace, json_object_agg(
    relname, json_build_object('select', coalesce(roles, '{}'), 'columns', columns) order by relname
  ) as views
  from relations
  left join rights on object = relations.oid and privilege_type = 'SELECT'
  where relkind = 'v'
  group by relnamespace
), functions as (
  select pronamespace, json_object_agg(
    signature, json_build_object(
      'execute', coalesce(roles, '{}'),
      'returns', concat_ws(
        ' ',
        lower(pg_get_function_result(oid)),
        case when proretset and prorows = 1 then 'rows 1' end,
        case provolatile when 'v' then 'volatile' else 'stable' end
      )
    ) order by proname, signature
  ) as functions
  from (
    select pg_proc.*, format('%s(%s)', proname, pg_get_function_arguments(pg_proc.oid)) as signature
    from pg_catalog.pg_proc join schemas on schemas.oid = pronamespace
  ) as signed
  left join rights on object = oid and privilege_type = 'EXECUTE'
  group by pronamespace
), types as (
  select relnamespace, json_object_agg(relname, columns order by relname) as types
  from relations
  where relkind = 'c'
  group by relnamespace
)
select
  schema_name as schema,
  coalesce(roles, '{}') as usage,
  coalesce(views, '{}') as views,
  coalesce(functions, '{}') as functions,
  coalesce(types, '{}') as types
from schemas
left join rights on object = schemas.oid and privilege_type = 'USAGE'
left join views on views.relnamespace = schemas.oid
left join functions on pronamespace = schemas.oid
left join types on types.relnamespace = schemas.oid
order by place
