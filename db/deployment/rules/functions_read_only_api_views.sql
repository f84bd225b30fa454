-- Functions read views of the API schemas, and no other relation.
select distinct
  api_functions.object,
  format('This function reads %s. API functions may only read views of API schemas.', found[1]::oid::regclass) as rule
from pg_temp.api_functions
cross join lateral regexp_matches(api_functions.tree, ':relid ([1-9]\d*)', 'g') as found
where found[1]::oid not in (select api_relations.oid from pg_temp.api_relations)
order by object, rule;
