-- Finds objects of the API schemas that break a rule, and says which rule. api_owner's rights do not enforce these rules: API
-- schemas contain only views, functions and types, which only api_public and api_tribal may read or run; everything has a
-- comment; views are cheap to page through; and functions cannot switch roles.
--
-- PostgREST's login may become api_tribal, and PostgreSQL checks `set role` against the login, whoever owns the function. No
-- grant can forbid that, and a function's text can hide the words. So each function must have a body that PostgreSQL has
-- parsed, and these rules read the parsed tree, which identifies every called function and every relation by its OID.

with relations as materialized (
  select served_schemas.name as schema_name, pg_class.*
  from publication.served_schemas
  join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid
), functions as materialized (
  select pg_proc.*, pg_proc.oid::regprocedure::text as signature
  from publication.served_schemas
  join pg_catalog.pg_proc on pg_proc.pronamespace = served_schemas.oid
), trees as materialized (
  select signature, concat(prosqlbody, proargdefaults) as tree from functions
), calls as (
  select signature, called.oid::regprocedure::text as called, nspname, provolatile
  from trees
  cross join lateral regexp_matches(tree, ':(?:funcid|opfuncid|aggfnoid|winfnoid|tsmhandler) (\d+)', 'g') as found
  left join pg_catalog.pg_proc as called on called.oid = found[1]::oid
  left join pg_catalog.pg_namespace on pg_namespace.oid = called.pronamespace
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
  'API schemas may only contain views, functions and types. Create tables in a migration or in db/data_set.' as rule
from relations where relkind not in ('v', 'c')
union all
select object, case grantee
    when 0 then format('%s is granted to PUBLIC. Revoke it (revoke all on … from public). Grant only %s, to api_public or api_tribal.', privilege_type, lower(allowed))
    else format('%s is granted to %s%s. Revoke it. Grant only %s, to api_public or api_tribal, without grant option.', privilege_type, grantee::regrole, case when is_grantable then ' with grant option' end, lower(allowed))
  end
from grants
where grantee <> owner
  and (grantee = 0 or privilege_type <> allowed or is_grantable or grantee::regrole::text not in ('api_public', 'api_tribal'))
union all
select 'default privileges of api_owner', 'Do not grant privileges on future objects. Remove the statement "alter default privileges … grant …".'
from pg_catalog.pg_default_acl cross join lateral aclexplode(defaclacl) where defaclrole = 'api_owner'::regrole and grantee <> defaclrole
union all
select pg_describe_object(classid, objid, 0), 'api_owner may own only API schemas and the views, functions and types in them. Create this object in a migration.'
from pg_catalog.pg_shdepend cross join lateral pg_identify_object(classid, objid, 0) as identified
where refobjid = 'api_owner'::regrole and deptype = 'o' and classid <> 'pg_default_acl'::regclass
  and dbid = (select oid from pg_catalog.pg_database where datname = current_database())
  and not (
    classid in ('pg_namespace'::regclass, 'pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
    and coalesce(identified.schema, identified.name) in (select name from publication.served_schemas)
  )
union all
select object, 'This object has no comment. Add one: the API''s documentation shows it.'
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
select signature, 'A relationship that returns a list must limit how many bytes it embeds. Add this to its where clause: "and request.limit_embedded_bytes(<approximate bytes of one returned row as JSON>)".'
from functions
where proretset and pronargs = 1 and prorows <> 1 and proargtypes[0] in (select reltype from relations)
  and signature not in (select signature from calls where called = 'request.limit_embedded_bytes(integer)')
union all
select signature, 'API functions must be SQL functions whose body is parsed when they are created. Write: language sql begin atomic select …; end'
from functions where prokind <> 'f' or prosqlbody is null
union all
select distinct signature, format('This function calls %s, which might do more than the caller is allowed to do. API functions may call only functions in API schemas or the schema "request", and non-volatile functions in pg_catalog.', called)
from calls
where not coalesce(nspname in (select name from publication.served_schemas) or nspname = 'request' or nspname = 'pg_catalog' and provolatile <> 'v', false)
union all
select distinct signature, format('This function reads %s. API functions may only read views of API schemas.', found[1]::oid::regclass)
from trees cross join lateral regexp_matches(tree, ':relid (\d+)', 'g') as found
where found[1]::oid <> 0 and found[1]::oid not in (select oid from relations)
union all
-- An update of the view pg_catalog.pg_settings would call set_config().
select signature, 'This function writes data. API functions may only select.' from trees where tree ~ ':commandType [^1]'
union all
select signature, format('This function sets %s. API functions may only set search_path.', setting)
from functions cross join lateral unnest(proconfig) as setting where setting !~ '^search_path='
union all
select pg_describe_object(classid, objid, objsubid), 'API schemas may not contain casts, domains, ranges, rules, triggers or defaults, because the deployment does not check the code that they run. Remove this object.'
from (
  select 'pg_type'::regclass as classid, oid as objid, 0 as objsubid from pg_catalog.pg_type
  where typnamespace in (select oid from publication.served_schemas) and typtype not in ('c', 'e') and typelem = 0
  union all
  select 'pg_cast'::regclass, pg_cast.oid, 0 from pg_catalog.pg_cast join pg_catalog.pg_type on pg_type.oid in (castsource, casttarget)
  where typnamespace in (select oid from publication.served_schemas) and casttarget <> 'request.whole_row'::regtype
  union all
  select classid, objid, objsubid from pg_catalog.pg_depend
  where refclassid = 'pg_class'::regclass and refobjid in (select oid from relations) and deptype = 'a'
) as extra
union all
select format('%I.%I', schema_name, relname),
  'An API view may only select plain columns of one view in the schema "dissemination". Sorting, filters, joins and computed columns would take time for every row that a client''s offset skips. Compute columns in db/data_set/build.sql, and let clients embed other tables.'
from relations
where relkind = 'v' and pg_get_viewdef(oid)
  !~ '^ SELECT (\w+\.)?\w+( AS \w+)?(,\s+(\w+\.)?\w+( AS \w+)?)*\s+FROM dissemination\.\w+( \w+)?;$'
order by 1, 2
