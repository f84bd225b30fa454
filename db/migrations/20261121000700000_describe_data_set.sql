-- The description of each version, which PostgREST serves at /, tells which data set is live.
-- Lock level: none; the function itself takes a lock on the schemas that no query needs.

create function publication.describe_data_set()
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
    select pg_namespace.nspname, obj_description(pg_namespace.oid, 'pg_namespace')
    from pg_catalog.pg_namespace
    where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$'
      and pg_namespace.nspowner = current_user::regrole
  loop
    execute format(
      'comment on schema %I is %L', schema_name,
      regexp_replace(description, '\n\nData set [0-9a-f-]{36}, published \S+$', '') || coalesce(data_set, '')
    );
  end loop;
end
$$;
comment on function publication.describe_data_set is
  'Writes the live data set into the comment of each version schema, which PostgREST serves at / as its description.';
revoke execute on function publication.describe_data_set from public;
grant execute on function publication.describe_data_set to publisher;
