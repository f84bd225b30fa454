-- API schemas contain only views, functions and types.
select
  api_relations.object,
  'API schemas may only contain views, functions and types. Create tables in a migration or in db/data_set.' as rule
from pg_temp.api_relations
where api_relations.relkind not in ('v', 'c')
order by object;
