-- Views, columns and functions have comments, which the API's documentation shows.

create or replace function publication.find_rule_everything_has_a_comment()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select described.object, 'This object has no comment. Add one: the API''s documentation shows it.' as rule
  from (
    select api_relations.object, obj_description(api_relations.oid, 'pg_class')
    from publication.find_api_relations() as api_relations where api_relations.relkind = 'v'
    union all
    select format('%s.%I', api_relations.object, pg_attribute.attname), col_description(api_relations.oid, pg_attribute.attnum)
    from publication.find_api_relations() as api_relations
    join pg_catalog.pg_attribute
      on pg_attribute.attrelid = api_relations.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
    where api_relations.relkind = 'v'
    union all
    select api_functions.object, obj_description(api_functions.oid, 'pg_proc') from publication.find_api_functions() as api_functions
  ) as described (object, description)
  where coalesce(described.description, '') = ''
$$;
