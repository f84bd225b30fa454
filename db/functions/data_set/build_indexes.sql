create or replace function data_set.build_indexes(schema_name text)
returns void
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  missing data_set.indexes;
begin
  for missing in
    select * from data_set.indexes
    where to_regclass(format('%I.%I', schema_name, indexes.name)) is null
    order by indexes.place
  loop
    execute format(
      'create index %I on %I.%I %s', missing.name, schema_name, missing.table_name, missing.definition
    );
    execute format('comment on index %I.%I is %L', schema_name, missing.name, missing.purpose);
  end loop;
end
$$;
comment on function data_set.build_indexes is
  'Builds the recorded indexes that the public tables of a generation that is not live lack.';
grant execute on function data_set.build_indexes to publisher;
