-- Whether a role may call a function of a version. request.decide() checks this before PostgREST calls the function.
create function request.may_call(database_role name, profile text, called text)
returns boolean
language sql stable security definer set search_path = ''
as $$
  -- PostgREST has found the function already. If a deployment has dropped it since, the call fails.
  select coalesce(bool_or(has_function_privilege(may_call.database_role, pg_proc.oid, 'execute')), true)
  from publication.served_schemas
  join pg_catalog.pg_proc on pg_proc.pronamespace = served_schemas.oid and pg_proc.proname = may_call.called
  -- Clients that do not name a version get the first one.
  where served_schemas.name = may_call.profile or (coalesce(may_call.profile, '') = '' and served_schemas.place = 1)
$$;
comment on function request.may_call is
  'Whether a role may execute a function of this name in a version, which is the first one if profile is empty.';
grant execute on function request.may_call to gateway;
