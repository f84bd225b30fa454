-- api_owner owns nothing but the API schemas and the views, functions and types in them.

create or replace function publication.find_rule_api_owner_owns_only_the_api()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select
    pg_describe_object(pg_shdepend.classid, pg_shdepend.objid, 0) as object,
    'api_owner may own only API schemas and the views, functions and types in them. Create it in a migration, or give it to another role (alter … owner to …).' as rule
  from pg_catalog.pg_shdepend
  cross join lateral pg_identify_object(pg_shdepend.classid, pg_shdepend.objid, 0) as identified
  where pg_shdepend.refobjid = 'api_owner'::regrole and pg_shdepend.deptype = 'o'
    and pg_shdepend.classid <> 'pg_default_acl'::regclass
    and pg_shdepend.dbid in (
      0, (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
    )
    and not (
      pg_shdepend.classid in ('pg_namespace'::regclass, 'pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
      and coalesce(identified.schema, identified.name) in (select served_schemas.name from publication.served_schemas)
    )
$$;
