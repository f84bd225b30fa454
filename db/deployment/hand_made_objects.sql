-- Tables in API schemas, and objects elsewhere that depend on the API: rebuilding the API would delete them. Also schemas of other
-- roles that have the name of a version. Parameter: the names of the versions' schemas.
with relations as (
  select * from pg_catalog.pg_class
  where pg_class.relnamespace in (select served_schemas.oid from publication.served_schemas)
), contents as (
  select pg_depend.classid, pg_depend.objid as oid
  from pg_catalog.pg_depend
  where pg_depend.refclassid = 'pg_namespace'::regclass
    and pg_depend.refobjid in (select served_schemas.oid from publication.served_schemas)
  union all
  select 'pg_type'::regclass, relations.reltype from relations
), dependents as (
  -- A view depends on what it reads through its rule.
  select distinct
    case when pg_rewrite.ev_class is null then pg_depend.classid else 'pg_class'::regclass end as classid,
    coalesce(pg_rewrite.ev_class, pg_depend.objid) as oid
  from pg_catalog.pg_depend
  left join pg_catalog.pg_rewrite
    on pg_depend.classid = 'pg_rewrite'::regclass and pg_rewrite.oid = pg_depend.objid
  where pg_depend.deptype = 'n'
    and (pg_depend.refclassid, pg_depend.refobjid) in (select contents.classid, contents.oid from contents)
)
select pg_describe_object('pg_class'::regclass, relations.oid, 0) as name
from relations
where relations.relkind in ('r', 'p', 'm', 'f', 'S')
union all
select pg_describe_object(dependents.classid, dependents.oid, 0) || ', which depends on the API'
from dependents
where (dependents.classid, dependents.oid) not in (select contents.classid, contents.oid from contents)
  -- request.cast_views() makes these.
  and dependents.classid <> 'pg_cast'::regclass
union all
select format('schema %I, which belongs to %I', nspname, pg_get_userbyid(nspowner))
from pg_catalog.pg_namespace
where nspname = any ($1) and pg_get_userbyid(nspowner) <> 'api_owner'
order by 1
