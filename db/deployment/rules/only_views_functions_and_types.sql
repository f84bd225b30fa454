-- API schemas contain only views, functions and types.

create or replace function publication.find_rule_only_views_functions_and_types()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select
    api_relations.object,
    'API schemas may only contain views, functions and types. Create tables in a migration or in db/data_set.' as rule
  from publication.find_api_relations() as api_relations
  where api_relations.relkind not in ('v', 'c')
$$;
