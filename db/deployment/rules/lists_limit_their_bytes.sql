-- A relationship that returns a list limits how many bytes a request embeds.
select
  api_functions.object,
  'A relationship that returns a list must limit how many bytes it embeds. Add this to its where clause: "and request.limit_embedded_bytes(<approximate bytes of one returned row as JSON>)".'
    as rule
from pg_temp.api_functions
where api_functions.proretset and api_functions.pronargs = 1 and api_functions.prorows <> 1
  and api_functions.proargtypes[0] in (select api_relations.reltype from pg_temp.api_relations)
  and api_functions.object not in (
    select api_calls.object from pg_temp.api_calls where api_calls.called = 'request.limit_embedded_bytes(integer)'
  )
order by object;
