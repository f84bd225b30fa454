-- Functions write nothing. An update of the view pg_catalog.pg_settings would call set_config().

create or replace function publication.find_rule_functions_only_select()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select api_functions.object, 'This function writes data. API functions may only select.' as rule
  from publication.find_api_functions() as api_functions
  where strpos(replace(api_functions.tree, ':commandType 1 ', ''), ':commandType ') > 0
$$;
