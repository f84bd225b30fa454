-- No code that the other rules do not read: casts, domains, ranges, rules, triggers and defaults.

create or replace function publication.find_rule_no_hidden_code()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select
    pg_describe_object(extra.classid, extra.objid, 0) as object,
    'API schemas may not contain casts, domains, ranges, rules, triggers or defaults, because the deployment does not check the code that they run. Remove this object.'
      as rule
  from (
    select 'pg_type'::regclass as classid, pg_type.oid as objid
    from pg_catalog.pg_type
    where pg_type.typnamespace in (select served_schemas.oid from publication.served_schemas)
      and pg_type.typtype not in ('c', 'e') and pg_type.typelem = 0
    union all
    select 'pg_cast'::regclass, pg_cast.oid
    from pg_catalog.pg_cast
    join pg_catalog.pg_type on pg_type.oid in (pg_cast.castsource, pg_cast.casttarget)
    where pg_type.typnamespace in (select served_schemas.oid from publication.served_schemas)
      and pg_cast.casttarget <> to_regtype('request.whole_row')
    union all
    select pg_depend.classid, pg_depend.objid
    from pg_catalog.pg_depend
    where pg_depend.refclassid = 'pg_class'::regclass and pg_depend.deptype = 'a'
      and pg_depend.refobjid in (select api_relations.oid from publication.find_api_relations() as api_relations)
  ) as extra
$$;
