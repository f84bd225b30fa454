-- Functions read views of the API schemas, and no other relation.

create or replace function publication.find_rule_functions_read_only_api_views()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select distinct
    api_functions.object,
    format('This function reads %s. API functions may only read views of API schemas.', found[1]::oid::regclass) as rule
  from publication.find_api_functions() as api_functions
  cross join lateral regexp_matches(api_functions.tree, ':relid ([1-9]\d*)', 'g') as found
  where found[1]::oid not in (select api_relations.oid from publication.find_api_relations() as api_relations)
$$;
