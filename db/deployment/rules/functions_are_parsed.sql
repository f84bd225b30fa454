-- Functions are SQL functions whose body PostgreSQL parses when they are created. The other rules read the parsed body.
--
-- PostgREST's login may become api_tribal, and PostgreSQL checks `set role` against the login, whoever owns the function. No
-- grant can forbid that, and a function's text can hide the words.
select
  api_functions.object,
  'API functions must be SQL functions whose body is parsed when they are created. Write: language sql begin atomic select …; end'
    as rule
from pg_temp.api_functions
where api_functions.prokind <> 'f' or api_functions.prosqlbody is null
order by object;
