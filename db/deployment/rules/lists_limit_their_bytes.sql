-- A relationship that returns a list limits how many bytes a request embeds.

create or replace function publication.find_rule_lists_limit_their_bytes()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select
    api_functions.object,
    'A relationship that returns a list must limit how many bytes it embeds. Add this to its where clause: "and request.limit_embedded_bytes(<approximate bytes of one returned row as JSON>)".'
      as rule
  from publication.find_api_functions() as api_functions
  where api_functions.proretset and cardinality(api_functions.arguments) = 1 and api_functions.prorows <> 1
    and api_functions.arguments[1] in (select api_relations.reltype from publication.find_api_relations() as api_relations)
    and api_functions.object not in (
      select api_calls.object
      from publication.find_api_calls() as api_calls
      where api_calls.oid = to_regprocedure('request.limit_embedded_bytes(integer)')
    )
$$;
