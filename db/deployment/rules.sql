-- Which objects of the API schemas break a rule of this database, and the rule. The rights of api_owner do not forbid these: an
-- API schema holds views, functions and types that only api_public and api_tribal may read or run; it has comments; and its
-- views are cheap to page through.

with relations as materialized (
  select served_schemas.name as schema_name, pg_class.*
  from publication.served_schemas
  join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid
), functions as materialized (
  select pg_proc.*, pg_proc.oid::regprocedure::text as signature
  from publication.served_schemas
  join pg_catalog.pg_proc on pg_proc.pronamespace = served_schemas.oid
), grants as (
  select format('%I.%I', schema_name, relname) as object, rights.*, relowner as owner, 'SELECT' as allowed
  from relations cross join lateral aclexplode(relacl) as rights
  union all
  select format('%I.%I.%I', schema_name, relname, attname), rights.*, relowner, 'SELECT'
  from relations join pg_catalog.pg_attribute on attrelid = relations.oid
  cross join lateral aclexplode(attacl) as rights
  union all
  select signature, rights.*, proowner, 'EXECUTE'
  from functions cross join lateral aclexplode(coalesce(proacl, acldefault('f', proowner))) as rights
  union all
  select format('schema %I', name), rights.*, nspowner, 'USAGE'
  from publication.served_schemas join pg_catalog.pg_namespace on pg_namespace.oid = served_schemas.oid
  cross join lateral aclexplode(nspacl) as rights
)
select format('%I.%I', schema_name, relname) as object,
  'API schemas hold views, functions and types. Create tables in a migration or in db/data_set.' as rule
from relations where relkind not in ('v', 'c')
union all
select object, case grantee
    when 0 then format('%s is granted to PUBLIC. Add: revoke all on … from public, and grant it to api_public or api_tribal.', privilege_type)
    else format('%s is granted to %s. Grant %s, to api_public or api_tribal.', privilege_type, grantee::regrole, lower(allowed))
  end
from grants
where grantee <> owner
  and (grantee = 0 or privilege_type <> allowed or is_grantable or grantee::regrole::text not in ('api_public', 'api_tribal'))
union all
select 'default privileges of api_owner', 'Later objects must not be granted automatically. Remove alter default privileges.'
from pg_catalog.pg_default_acl cross join lateral aclexplode(defaclacl) where defaclrole = 'api_owner'::regrole and grantee <> defaclrole
union all
select pg_describe_object(classid, objid, 0), 'API schemas hold views, functions and types, and api_owner owns nothing else. Create it in a migration.'
from pg_catalog.pg_shdepend cross join lateral pg_identify_object(classid, objid, 0) as identified
where refobjid = 'api_owner'::regrole and deptype = 'o' and classid <> 'pg_default_acl'::regclass
  and dbid = (select oid from pg_catalog.pg_database where datname = current_database())
  and not (
    classid in ('pg_namespace'::regclass, 'pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
    and coalesce(identified.schema, identified.name) in (select name from publication.served_schemas)
  )
union all
select object, 'It needs a comment, which describes it in the API''s documentation.'
from (
  select format('%I.%I', schema_name, relname), obj_description(oid, 'pg_class') from relations where relkind = 'v'
  union all
  select format('%I.%I.%I', schema_name, relname, attname), col_description(relations.oid, attnum)
  from relations join pg_catalog.pg_attribute on attrelid = relations.oid and attnum > 0 and not attisdropped where relkind = 'v'
  union all
  select signature, obj_description(oid, 'pg_proc') from functions
) as described (object, description)
where coalesce(description, '') = ''
union all
select signature, 'A relationship that returns a list needs a weight; otherwise one row could carry any number of others. Add: and request.take_weight(<bytes of a row>).'
from functions
where proretset and pronargs = 1 and prorows <> 1 and prosrc not like '%request.take_weight(%'
  and proargtypes[0] in (select reltype from relations)
union all
-- PostgREST's login may become api_tribal, and PostgreSQL checks "set role" against the login, whatever the function's owner
-- may. No grant can forbid it, so the words are refused; docs/editing-views.md says what reviewers look for.
select signature, 'It could switch to another role. API functions may not use set_config (except for response.headers), set role, execute, or the functions …_to_xml.'
from functions
where replace(pg_get_functiondef(oid), 'set_config(''response.headers''', '')
  ~* '\mset_config\M|\mset\s+(local\s+|session\s+)?(role|session)\M|\mexecute\M|_to_xml\M'
union all
select format('%I.%I', schema_name, relname),
  'API views select plain columns of one table of dissemination. Order, filters, joins and computed columns cost time for each row that a client skips. Compute columns in db/data_set/build.sql, and offer other tables by embedding.'
from relations
where relkind = 'v' and pg_get_viewdef(oid)
  !~ '^ SELECT (\w+\.)?\w+( AS \w+)?(,\s+(\w+\.)?\w+( AS \w+)?)*\s+FROM dissemination\.\w+( \w+)?;$'
order by 1, 2
