-- Functions are SQL functions whose body PostgreSQL parses when they are created. The other rules read the parsed body.
--
-- PostgREST's login may become api_tribal, and PostgreSQL checks `set role` against the login, whoever owns the function. No
-- grant can forbid that, and a function's text can hide the words.

create or replace function publication.find_rule_functions_are_parsed()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select
    api_functions.object,
    'API functions must be SQL functions whose body is parsed when they are created. Write: language sql begin atomic select …; end'
      as rule
  from publication.find_api_functions() as api_functions
  where api_functions.prokind <> 'f' or not api_functions.is_parsed
$$;
