-- Views, columns and functions have comments, which the API's documentation shows.
select described.object, 'This object has no comment. Add one: the API''s documentation shows it.' as rule
from (
  select api_relations.object, obj_description(api_relations.oid, 'pg_class')
  from pg_temp.api_relations where api_relations.relkind = 'v'
  union all
  select format('%s.%I', api_relations.object, pg_attribute.attname), col_description(api_relations.oid, pg_attribute.attnum)
  from pg_temp.api_relations
  join pg_catalog.pg_attribute
    on pg_attribute.attrelid = api_relations.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
  where api_relations.relkind = 'v'
  union all
  select api_functions.object, obj_description(api_functions.oid, 'pg_proc') from pg_temp.api_functions
) as described (object, description)
where coalesce(described.description, '') = ''
order by object;
