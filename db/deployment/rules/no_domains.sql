-- No function, type or view uses a domain, whose check would run with its caller's rights.
select distinct
  used.object,
  format('It uses the domain %s, whose check would run with its caller''s rights. Use the type %s.', pg_type.oid::regtype, format_type(pg_type.typbasetype, pg_type.typtypmod))
    as rule
from (
  select api_functions.object, found[1]::oid as type
  from pg_temp.api_functions
  cross join lateral regexp_matches(api_functions.tree, ':\w*type ([1-9]\d*)', 'g') as found
  union all
  select api_functions.object, argument.type
  from pg_temp.api_functions
  cross join lateral unnest(
    api_functions.prorettype || coalesce(api_functions.proallargtypes, api_functions.proargtypes::oid[])
  ) as argument (type)
  union all
  select api_relations.object, pg_attribute.atttypid
  from pg_temp.api_relations
  join pg_catalog.pg_attribute on pg_attribute.attrelid = api_relations.oid
) as used
join pg_catalog.pg_type as used_type on used_type.oid = used.type
join pg_catalog.pg_type on pg_type.oid in (used_type.oid, used_type.typelem)
where pg_type.typtype = 'd' and pg_type.oid >= 16384
order by object, rule;
