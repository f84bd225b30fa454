-- No argument, result or value in a function is the ID or the name of an object: a client could send the name of any table.

create or replace function publication.find_rule_functions_handle_no_object_names()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select distinct
    api_types.object,
    format('This function has a value of the type %s, which names an object of the database. Use text.', api_types.type::regtype) as rule
  from publication.find_api_types() as api_types
  where publication.find_object_type(api_types.type)
$$;
