create or replace function publication.describe_data_set()
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  schema_name text;
  description text;
  data_set text;
begin
  select format(
    E'\n\nData set %s, published %s.',
    data_sets.id, to_char(data_sets.published_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
  )
  into data_set
  from publication.data_sets
  where data_sets.state = 'live';

  for schema_name, description in
    select served_schemas.name, obj_description(served_schemas.oid, 'pg_namespace')
    from publication.served_schemas
  loop
    execute format(
      'comment on schema %I is %L', schema_name,
      regexp_replace(description, '\n\nData set [0-9a-f-]{36}, published \S+$', '') || coalesce(data_set, '')
    );
  end loop;
end
$$;
comment on function publication.describe_data_set is
  'Writes the live data set''s ID and time into the comment of each served schema. PostgREST serves the comment as the description at /.';
grant execute on function publication.describe_data_set to publisher;
