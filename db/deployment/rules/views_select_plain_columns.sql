-- A view is a single select of columns from one view of dissemination, so that it is cheap to page through.

create or replace function publication.find_rule_views_select_plain_columns()
returns table (object text, rule text)
language sql stable security invoker
as $$
  select
    api_relations.object,
    'An API view may only select plain columns of one view in the schema "dissemination". Sorting, filters, joins and computed columns would take time for every row that a client''s offset skips. Compute columns in db/data_set/build.sql, and let clients embed other tables.'
      as rule
  from publication.find_api_relations() as api_relations
  where api_relations.relkind = 'v' and pg_get_viewdef(api_relations.oid)
    !~ '^ SELECT (\w+\.)?\w+( AS \w+)?(,\s+(\w+\.)?\w+( AS \w+)?)*\s+FROM dissemination\.\w+( \w+)?;$'
$$;
