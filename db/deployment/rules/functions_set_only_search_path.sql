-- Functions change no setting except search_path, such as row_security.

create or replace function publication.find_rule_functions_set_only_search_path()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select api_functions.object, format('This function sets %s. API functions may only set search_path.', setting) as rule
  from publication.find_api_functions() as api_functions
  cross join lateral unnest(api_functions.proconfig) as setting
  where setting !~ '^search_path='
$$;
