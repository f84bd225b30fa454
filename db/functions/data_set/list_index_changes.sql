-- Indexes of constraints and of report IDs belong to the table (data_set.complete_table).
create or replace function data_set.list_index_changes()
returns table (schema_name text, name text, creation text, comment text)
language sql stable security invoker set search_path = ''
as $$
  with generations as (
    select 'disclosed' || suffix as schema_name from unnest(data_set.list_generations()) as suffix
  ), built as (
    select
      generations.schema_name, index.relname::text as name, indexed.relname::text as table_name,
      regexp_replace(pg_get_indexdef(index.oid), '^CREATE (UNIQUE )?INDEX \S+ ON \S+ ', '') as definition,
      obj_description(index.oid, 'pg_class') as purpose,
      pg_index.indisvalid
    from generations
    join pg_catalog.pg_class as indexed on indexed.relnamespace = to_regnamespace(generations.schema_name)
    join pg_catalog.pg_index on pg_index.indrelid = indexed.oid
    join pg_catalog.pg_class as index on index.oid = pg_index.indexrelid
    where index.relname <> indexed.relname || '_report_id'
      and not exists (select from pg_catalog.pg_constraint where pg_constraint.conindid = index.oid and pg_constraint.contype = 'u')
  ), wanted as (
    select generations.schema_name, indexes.* from generations cross join data_set.indexes
  )
  select coalesce(wanted.schema_name, built.schema_name), coalesce(wanted.name, built.name),
    case when wanted.name is not null then
      format(
        'create index concurrently %I on %I.%I %s',
        wanted.name, wanted.schema_name, wanted.table_name, wanted.definition
      )
    end,
    case when wanted.name is not null then
      format('comment on index %I.%I is %L', wanted.schema_name, wanted.name, wanted.purpose)
    end
  from wanted
  full join built using (schema_name, name)
  where (wanted.table_name, wanted.definition, wanted.purpose, true)
    is distinct from (built.table_name, built.definition, built.purpose, built.indisvalid)
  order by 1, wanted.place
$$;
comment on function data_set.list_index_changes is
  'The indexes of the live and the previous public tables that differ from the recorded ones, or are not valid. creation: the statement that creates the index, null if it is not wanted. comment: the statement that sets its comment, null as well.';
revoke all on function data_set.list_index_changes from public;
grant execute on function data_set.list_index_changes to publisher, deployment_planner;
