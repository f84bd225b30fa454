create or replace function data_set.add_column(table_name text, column_name text, column_type text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  generation text;
begin
  -- No data set is published until the transaction ends, so no generation misses the change.
  lock table publication.data_sets in share mode;
  insert into data_set.awaited_columns (table_name, column_name) values (table_name, column_name);
  -- The live tables come last, and in the order in which requests read them.
  foreach generation in array data_set.list_generations() loop
    execute format('alter table %I.%I add column %I %s', 'disclosed' || generation, table_name, column_name, column_type);
    execute format('alter table %I.%I add column %I %s', 'suppressed' || generation, table_name, column_name, column_type);
  end loop;
  perform data_set.bind_view(table_name);
end
$$;
comment on function data_set.add_column is
  'For migrations: adds a column at the end of a source table, in every generation. It is null until a refresh reads files that have it.';
