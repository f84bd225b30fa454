-- Indexes of constraints and of report IDs belong to the table (data_set.complete_table).
create or replace function data_set.list_index_changes()
returns table (schema_name text, name text, statements text[])
language sql stable security invoker set search_path = ''
as $$
  with generations as (
    select 'disclosed' || suffix as schema_name from unnest(data_set.list_generations()) as suffix
  ), built as (
    select
      generations.schema_name, index.relname::text as name, indexed.relname::text as table_name,
      regexp_replace(pg_get_indexdef(index.oid), '^CREATE (UNIQUE )?INDEX \S+ ON \S+ ', '') as definition,
      obj_description(index.oid, 'pg_class') as purpose,
      pg_index.indisvalid,
      format('drop index concurrently if exists %I.%I', generations.schema_name, index.relname) as dropping
    from generations
    join pg_catalog.pg_class as indexed on indexed.relnamespace = to_regnamespace(generations.schema_name)
    join pg_catalog.pg_index on pg_index.indrelid = indexed.oid
    join pg_catalog.pg_class as index on index.oid = pg_index.indexrelid
    where index.relname <> indexed.relname || '_report_id'
      and not exists (select from pg_catalog.pg_constraint where pg_constraint.conindid = index.oid and pg_constraint.contype = 'u')
  ), wanted as (
    select generations.schema_name, indexes.* from generations cross join data_set.indexes
  )
  select schema_name, name,
    case
      when wanted.name is null then array[built.dropping]
      when built.name is null then making.statements
      -- Requests use the old index until the new one is valid.
      else array[format('drop index concurrently if exists %I.%I', schema_name, made.index_name)] || making.statements
        || array[built.dropping, format('alter index %I.%I rename to %I', schema_name, made.index_name, name)]
    end
  from wanted
  full join built using (schema_name, name)
  cross join lateral (select name || case when built.name is null then '' else '_next' end) as made (index_name)
  cross join lateral (
    select array[
      format('create index concurrently %I on %I.%I %s', made.index_name, schema_name, wanted.table_name, wanted.definition),
      format('comment on index %I.%I is %L', schema_name, made.index_name, wanted.purpose)
    ]
  ) as making (statements)
  where (wanted.table_name, wanted.definition, wanted.purpose, true)
    is distinct from (built.table_name, built.definition, built.purpose, built.indisvalid)
  order by 1, wanted.place
$$;
comment on function data_set.list_index_changes is
  'The indexes of the live and the previous public tables that differ from the recorded ones, or are not valid, with the statements that build or drop them without blocking requests. If one fails, the list then has what is left.';
grant execute on function data_set.list_index_changes to publisher, deployment_planner;
