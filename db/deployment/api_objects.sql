-- What the rules in db/deployment/rules read, as temporary views: the relations and functions of the API schemas, what each
-- function calls, and which privileges are granted. A deployment creates them before it asks the rules, and drops them after.
-- To ask a rule by hand, run this file, callable_functions.sql and the rule's file in one session.

create temporary view api_relations as
select served_schemas.name as schema_name, format('%I.%I', served_schemas.name, pg_class.relname) as object, pg_class.*
from publication.served_schemas
join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid;

-- The body of an API function and the defaults of its arguments, as PostgreSQL parsed them. A function's text can hide what
-- it calls, but the parsed tree has the OID of every function and relation.
create temporary view api_functions as
select
  pg_proc.oid::regprocedure::text as object,
  concat(pg_proc.prosqlbody, pg_proc.proargdefaults) as tree,
  pg_proc.*
from publication.served_schemas
join pg_catalog.pg_proc on pg_proc.pronamespace = served_schemas.oid;

create temporary view api_calls as
select api_functions.object, called.oid, called.oid::regprocedure::text as called, called.provolatile, pg_namespace.nspname
from pg_temp.api_functions
cross join lateral publication.find_calls(api_functions.tree) as found (oid)
left join pg_catalog.pg_proc as called on called.oid = found.oid
left join pg_catalog.pg_namespace on pg_namespace.oid = called.pronamespace;

create temporary view api_grants as
select api_relations.object, api_relations.relowner as owner, 'SELECT' as allowed, rights.*
from pg_temp.api_relations
cross join lateral aclexplode(api_relations.relacl) as rights
union all
select format('%s.%I', api_relations.object, pg_attribute.attname), api_relations.relowner, 'SELECT', rights.*
from pg_temp.api_relations
join pg_catalog.pg_attribute on pg_attribute.attrelid = api_relations.oid
cross join lateral aclexplode(pg_attribute.attacl) as rights
union all
select api_functions.object, api_functions.proowner, 'EXECUTE', rights.*
from pg_temp.api_functions
cross join lateral aclexplode(coalesce(api_functions.proacl, acldefault('f', api_functions.proowner))) as rights
union all
select format('schema %I', served_schemas.name), pg_namespace.nspowner, 'USAGE', rights.*
from publication.served_schemas
join pg_catalog.pg_namespace on pg_namespace.oid = served_schemas.oid
cross join lateral aclexplode(pg_namespace.nspacl) as rights;
