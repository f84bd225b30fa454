-- Functions change no setting except search_path, such as row_security.
select api_functions.object, format('This function sets %s. API functions may only set search_path.', setting) as rule
from pg_temp.api_functions
cross join lateral unnest(api_functions.proconfig) as setting
where setting !~ '^search_path='
order by object, rule;
