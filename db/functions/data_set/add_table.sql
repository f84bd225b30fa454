create or replace function data_set.add_table(table_name text, is_source boolean, key_columns text[] default null)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  generation text;
  side text;
begin
  -- No data set is published until the transaction ends, so no generation misses the change.
  lock table publication.data_sets in share mode;
  insert into data_set.tables (name, is_source, key_columns) values (table_name, is_source, key_columns);
  foreach generation in array data_set.list_generations() loop
    foreach side in array case when is_source then array['suppressed', 'disclosed'] else array['disclosed'] end loop
      if side || generation <> 'disclosed' then
        execute format('create table %I.%I (like disclosed.%2$I)', side || generation, table_name);
      end if;
      perform data_set.complete_table(side || generation, table_name);
      execute format('alter table %I.%I owner to publisher', side || generation, table_name);
    end loop;
  end loop;
  perform data_set.open_live_schemas();
  perform data_set.bind_view(table_name);
end
$$;
comment on function data_set.add_table is
  'For migrations: adds a table of the data set that the migration created in disclosed. Creates its other tables, their constraints and policies, and its view in dissemination. is_source: whether its rows come from source files. key_columns: the columns that are unique together, null included.';
