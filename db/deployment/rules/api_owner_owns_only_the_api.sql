-- api_owner owns nothing but the API schemas and the views, functions and types in them.
select
  pg_describe_object(pg_shdepend.classid, pg_shdepend.objid, 0) as object,
  'api_owner may own only API schemas and the views, functions and types in them. Create this object in a migration.' as rule
from pg_catalog.pg_shdepend
cross join lateral pg_identify_object(pg_shdepend.classid, pg_shdepend.objid, 0) as identified
where pg_shdepend.refobjid = 'api_owner'::regrole and pg_shdepend.deptype = 'o'
  and pg_shdepend.classid <> 'pg_default_acl'::regclass
  and pg_shdepend.dbid = (select pg_database.oid from pg_catalog.pg_database where pg_database.datname = current_database())
  and not (
    pg_shdepend.classid in ('pg_namespace'::regclass, 'pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
    and coalesce(identified.schema, identified.name) in (select served_schemas.name from publication.served_schemas)
  )
order by object;
