create or replace function data_set.drop_column(table_name text, column_name text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  reader text;
  generation text;
begin
  -- No data set is published until the transaction ends, so no generation misses the change.
  lock table publication.data_sets in share mode;
  select pg_rewrite.ev_class::regclass::text
  into reader
  from pg_catalog.pg_attribute
  join pg_catalog.pg_depend on pg_depend.refobjid = pg_attribute.attrelid and pg_depend.refobjsubid = pg_attribute.attnum
    and pg_depend.refclassid = 'pg_class'::regclass and pg_depend.classid = 'pg_rewrite'::regclass
  join pg_catalog.pg_rewrite on pg_rewrite.oid = pg_depend.objid and pg_rewrite.ev_class <> pg_attribute.attrelid
  where pg_attribute.attrelid = format('dissemination.%I', table_name)::regclass and pg_attribute.attname = column_name;
  if found then
    raise exception '% still reads %.%. First deploy the API without the column, then this migration.', reader, table_name, column_name;
  end if;
  delete from data_set.awaited_columns as awaited
  where awaited.table_name = drop_column.table_name and awaited.column_name = drop_column.column_name;
  -- Until the deployment rebuilds the API, dissemination has a null in its place, because the API's views read that view.
  perform data_set.bind_view(table_name, column_name);
  foreach generation in array data_set.list_generations() loop
    execute format('alter table %I.%I drop column %I', 'disclosed' || generation, table_name, column_name);
    execute format('alter table %I.%I drop column %I', 'suppressed' || generation, table_name, column_name);
  end loop;
end
$$;
comment on function data_set.drop_column is
  'For migrations: drops a column of a source table that no version of the API reads, from every generation. Until the next refresh, skipping rows of the table costs more.';
