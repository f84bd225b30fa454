-- What the rules in db/deployment/rules read: the relations and functions of the API schemas, what each function calls and which
-- types it uses. Deployments install these functions and the rules with the leak check (db/data_set/find_leaks.sql).

create or replace function publication.find_api_relations()
returns table (object text, oid oid, relkind "char", reltype oid)
language sql stable security invoker
as $$
  select format('%I.%I', served_schemas.name, pg_class.relname), pg_class.oid, pg_class.relkind, pg_class.reltype
  from publication.served_schemas
  join pg_catalog.pg_class on pg_class.relnamespace = served_schemas.oid
  -- Without this, PostgreSQL may evaluate a rule's condition for every relation of the database.
  offset 0
$$;

-- The body of an API function and the defaults of its arguments, as PostgreSQL parsed them. A function's text can hide what
-- it calls, but the parsed tree has the OID of every function and relation.
create or replace function publication.find_api_functions()
returns table (
  object text, tree text, oid oid, prokind "char", is_parsed boolean, prorettype oid, arguments oid[], proretset boolean,
  prorows real, proconfig text[]
)
language sql stable security invoker
as $$
  select
    pg_proc.oid::regprocedure::text, concat(pg_proc.prosqlbody, pg_proc.proargdefaults), pg_proc.oid, pg_proc.prokind,
    pg_proc.prosqlbody is not null, pg_proc.prorettype,
    -- An oidvector counts from 0.
    array(select unnest(coalesce(pg_proc.proallargtypes, pg_proc.proargtypes::oid[]))),
    pg_proc.proretset, pg_proc.prorows, pg_proc.proconfig
  from publication.served_schemas
  join pg_catalog.pg_proc on pg_proc.pronamespace = served_schemas.oid
$$;

-- The functions that a parsed expression or query calls, some of them through operators.
create or replace function publication.find_calls(tree text)
returns setof oid
language sql stable security invoker
as $$
  with found as (
    select distinct matched[1] as field, id::oid as id
    from regexp_matches(
      tree, ':(funcid|opfuncid|aggfnoid|winfnoid|tsmhandler|opno|eqop|sortop|opnos \(o) ([1-9][\d ]*)', 'g'
    ) as matched
    cross join lateral string_to_table(trim(matched[2]), ' ') as id
  )
  select coalesce(pg_operator.oprcode::oid, found.id)
  from found
  left join pg_catalog.pg_operator on found.field ~ 'op(no|nos \(o)?$' and pg_operator.oid = found.id
$$;

-- Whether values of a type are the ID or the name of an object, or a cursor, through which a function could read what its query
-- does not show. A text search configuration is harmless.
create or replace function publication.find_object_type(type oid)
returns boolean
language sql stable security invoker
as $$
  select exists (
    select
    from pg_catalog.pg_type
    left join pg_catalog.pg_type as element on element.oid = pg_type.typelem and pg_type.typcategory = 'A'
    where pg_type.oid = type
      and coalesce(element.typname, pg_type.typname) ~ '^(oid|reg.*|name|refcursor|internal|cstring|aclitem)$'
      and coalesce(element.typname, pg_type.typname) <> 'regconfig'
  )
$$;

-- Whether a function takes the ID or the name of an object. Arguments of type text may be names, too, which no type shows.
create or replace function publication.find_object_arguments(function oid)
returns boolean
language sql stable security invoker
as $$
  select coalesce(bool_or(publication.find_object_type(argument.type)), false)
  from pg_catalog.pg_proc
  cross join lateral unnest(coalesce(pg_proc.proallargtypes, pg_proc.proargtypes::oid[])) as argument (type)
  where pg_proc.oid = function
$$;

create or replace function publication.find_api_calls()
returns table (object text, oid oid, called text, provolatile "char", nspname name)
language sql stable security invoker
as $$
  select api_functions.object, called.oid, called.oid::regprocedure::text, called.provolatile, pg_namespace.nspname
  from publication.find_api_functions() as api_functions
  cross join lateral publication.find_calls(api_functions.tree) as found (oid)
  left join pg_catalog.pg_proc as called on called.oid = found.oid
  left join pg_catalog.pg_namespace on pg_namespace.oid = called.pronamespace
$$;

-- The types of an API function's arguments, of its result, and of everything in its body.
create or replace function publication.find_api_types()
returns table (object text, type oid)
language sql stable security invoker
as $$
  select api_functions.object, argument.type
  from publication.find_api_functions() as api_functions
  cross join lateral unnest(api_functions.prorettype || api_functions.arguments) as argument (type)
  union
  select fields.object, id::oid
  from (
    -- A regular expression over a whole tree takes twice as long.
    select distinct api_functions.object, field
    from publication.find_api_functions() as api_functions
    cross join lateral string_to_table(api_functions.tree, ' :') as field
    where field like '%type%' or field like 'typid%'
  ) as fields
  cross join lateral regexp_matches(fields.field, '^(?:\w*type|typid|\w*types \(o) ([1-9][\d ]*)') as found
  cross join lateral string_to_table(trim(found[1]), ' ') as id
$$;
