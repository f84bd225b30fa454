-- PostgreSQL reads the statements, on empty copies of the tables, so that the record is what it would print.
create or replace function data_set.record_indexes(statements text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  table_name text;
begin
  if exists (select from data_set.indexes where indexes.file_md5 = md5(statements)) then
    return;
  end if;
  create schema data_set_sketch;
  for table_name in select tables.name from data_set.tables loop
    execute format('create table data_set_sketch.%I (like disclosed.%1$I)', table_name);
  end loop;
  execute regexp_replace(statements, '\mdisclosed\.', 'data_set_sketch.', 'g');
  delete from data_set.indexes;
  insert into data_set.indexes (name, table_name, definition, purpose, place, file_md5)
  select index.relname, sketched.relname,
    regexp_replace(pg_get_indexdef(index.oid), '^CREATE INDEX \S+ ON \S+ ', ''), obj_description(index.oid, 'pg_class'),
    row_number() over (order by index.oid), md5(statements)
  from pg_catalog.pg_index
  join pg_catalog.pg_class as index on index.oid = pg_index.indexrelid
  join pg_catalog.pg_class as sketched on sketched.oid = pg_index.indrelid
  where sketched.relnamespace = 'data_set_sketch'::regnamespace;
  drop schema data_set_sketch cascade;
end
$$;
comment on function data_set.record_indexes is
  'Records the indexes that these statements would create on tables of disclosed, instead of those recorded before.';
revoke all on function data_set.record_indexes from public;
