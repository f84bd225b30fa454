-- PostgreSQL reads the statements, on empty copies of the tables, so that the record is what it would print. An index keeps what its
-- functions returned when it was built, so its comment ends with their hash: if a deployment changes them, the index differs.
create or replace function data_set.record_indexes(statements text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  table_name text;
  new_hash constant text := md5(statements || (
    select string_agg(coalesce(pg_get_function_sqlbody(pg_proc.oid), pg_proc.prosrc), '' order by pg_proc.oid::regprocedure::text)
    from pg_catalog.pg_proc where pg_proc.pronamespace = 'extensions'::regnamespace
  ));
begin
  if exists (select from data_set.indexes where indexes.hash = new_hash) then
    return;
  end if;
  create schema data_set_sketch;
  for table_name in select tables.name from data_set.tables loop
    execute format('create table data_set_sketch.%I (like disclosed.%1$I)', table_name);
  end loop;
  execute regexp_replace(statements, '\mdisclosed\.', 'data_set_sketch.', 'g');
  delete from data_set.indexes;
  insert into data_set.indexes (name, table_name, definition, purpose, place, hash)
  with recursive calls as (
    select pg_depend.objid as index_id, pg_depend.refobjid as function_id
    from pg_catalog.pg_depend
    where pg_depend.classid = 'pg_class'::regclass and pg_depend.refclassid = 'pg_proc'::regclass
    union
    select calls.index_id, pg_depend.refobjid
    from calls
    join pg_catalog.pg_depend on pg_depend.classid = 'pg_proc'::regclass and pg_depend.objid = calls.function_id
      and pg_depend.refclassid = 'pg_proc'::regclass
  ), bodies as (
    select
      calls.index_id,
      md5(string_agg(coalesce(pg_get_function_sqlbody(pg_proc.oid), pg_proc.prosrc), '' order by pg_proc.oid::regprocedure::text)) as hash
    from calls
    join pg_catalog.pg_proc on pg_proc.oid = calls.function_id
    group by calls.index_id
  )
  select index.relname, sketched.relname,
    regexp_replace(pg_get_indexdef(index.oid), '^CREATE INDEX \S+ ON \S+ ', ''),
    nullif(concat_ws(' ', obj_description(index.oid, 'pg_class'), '(functions ' || left(bodies.hash, 8) || ')'), ''),
    row_number() over (order by index.oid), new_hash
  from pg_catalog.pg_index
  join pg_catalog.pg_class as index on index.oid = pg_index.indexrelid
  join pg_catalog.pg_class as sketched on sketched.oid = pg_index.indrelid
  left join bodies on bodies.index_id = index.oid
  where sketched.relnamespace = 'data_set_sketch'::regnamespace;
  drop schema data_set_sketch cascade;
end
$$;
comment on function data_set.record_indexes is
  'Records the indexes that these statements would create on tables of disclosed, instead of those recorded before.';
