create or replace function data_set.bind_views()
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  -- data_set comes first, because requests read it first: a request sees one data set from start to end.
  perform data_set.bind_view(tables.name) from (
    select name from data_set.tables order by name <> 'data_set', name
  ) as tables;
end
$$;
comment on function data_set.bind_views is 'Makes the views of dissemination read the live tables.';
grant execute on function data_set.bind_views to publisher;
