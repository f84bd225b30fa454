-- Functions call only functions of the API schemas and of "request", immutable built-in functions that take no name or ID of an
-- object, and the stable ones in callable_functions.sql. Many built-in functions read any table, or its statistics, by name.

create or replace function publication.find_rule_functions_call_only_listed_functions()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select distinct
    api_calls.object,
    format(
      'This function calls %s, which %s. API functions may call functions of API schemas and "request", immutable functions of '
      'pg_catalog, and those in db/deployment/callable_functions.sql.%s',
      coalesce(api_calls.called, 'a function that is gone'),
      case
        when api_calls.nspname is distinct from 'pg_catalog' then 'is in another schema'
        when api_calls.oid >= 16384 then 'is not PostgreSQL''s own'
        when api_calls.provolatile = 'v' then 'is volatile, so it could change something'
        when publication.find_object_arguments(api_calls.oid) then 'takes the name or ID of an object, so it could read other tables'
        else 'is not in the list of functions that read nothing by name'
      end,
      case
        when api_calls.nspname = 'pg_catalog' and api_calls.oid < 16384 and api_calls.provolatile <> 'v' and not publication.find_object_arguments(api_calls.oid)
          then format(' If no text that it takes names an object, a setting or a query, add the line: (%L, ''<what each text means>''),', api_calls.called)
      end
    ) as rule
  from publication.find_api_calls() as api_calls
  where not coalesce(
    api_calls.nspname = 'request'
    or api_calls.nspname in (select served_schemas.name from publication.served_schemas)
    or api_calls.nspname = 'pg_catalog' and api_calls.oid < 16384 and not publication.find_object_arguments(api_calls.oid) and (
      api_calls.provolatile = 'i'
      or api_calls.provolatile = 's' and api_calls.oid in (select callable_functions.oid from publication.find_callable_functions() as callable_functions)
    ),
    false
  )
$$;
