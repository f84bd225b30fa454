-- How the service describes itself: the live data set in what PostgREST serves at /, and what the app's pages tell. Only
-- what the public may see anyway.
-- Lock level: none.

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
grant execute on function publication.describe_data_set to publisher;

create function publication.describe_service()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'data_set', (
      select jsonb_build_object(
        'id', data_sets.id,
        'published_at', data_sets.published_at,
        -- Of the public rows alone: how many are suppressed is nobody's business here.
        'rows', (
          select jsonb_object_agg(counted.key, counted.value -> 'disclosed')
          from jsonb_each(data_sets.row_counts) as counted
        )
      )
      from publication.data_sets
      where data_sets.state = 'live' and data_sets.source <> 'empty'
    ),
    -- As PostgREST serves them (request.pre_config), the oldest first.
    'versions', (
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'schema', pg_namespace.nspname,
          'deprecated_at', retired_versions.deprecated_at,
          'sunset_at', retired_versions.sunset_at,
          'link', retired_versions.link
        )
        order by
          pg_namespace.nspname like 'admin%',
          string_to_array(substring(pg_namespace.nspname from 'api_v(.+)$'), '_')::integer[]
      ), '[]')
      from pg_catalog.pg_namespace
      left join deployment.retired_versions
        on retired_versions.version = substring(pg_namespace.nspname from 'api_(v.+)$')
      where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$'
        and pg_namespace.nspowner = (
          select request.nspowner from pg_catalog.pg_namespace as request where request.nspname = 'request'
        )
    )
  )
$$;
comment on function publication.describe_service is
  'The live data set (null while there is none), with public rows by table; the versions of the API that are served, with what is announced of their end.';
grant usage on schema publication to report_service;
grant execute on function publication.describe_service to report_service;
