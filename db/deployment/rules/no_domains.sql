-- No function, type or view uses a domain, whose check would run with its caller's rights.

create or replace function publication.find_rule_no_domains()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select distinct
    used.object,
    format('It uses the domain %s, whose check would run with its caller''s rights. Use the type %s.', pg_type.oid::regtype, format_type(pg_type.typbasetype, pg_type.typtypmod))
      as rule
  from (
    select api_types.object, api_types.type from publication.find_api_types() as api_types
    union all
    select api_relations.object, pg_attribute.atttypid
    from publication.find_api_relations() as api_relations
    join pg_catalog.pg_attribute on pg_attribute.attrelid = api_relations.oid
  ) as used
  join pg_catalog.pg_type as used_type on used_type.oid = used.type
  join pg_catalog.pg_type on pg_type.oid in (used_type.oid, used_type.typelem)
  where pg_type.typtype = 'd' and pg_type.oid >= 16384
$$;
