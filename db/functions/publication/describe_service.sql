create or replace function publication.describe_service()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'data_set', (
      select jsonb_build_object(
        'id', data_sets.id,
        'published_at', data_sets.published_at,
        -- Only public rows, because the number of suppressed rows is not public.
        'rows', (
          select jsonb_object_agg(counted.key, counted.value -> 'disclosed')
          from jsonb_each(data_sets.row_counts) as counted
        )
      )
      from publication.data_sets
      where data_sets.state = 'live'
    ),
    'token_seconds', (select extract(epoch from settings.token_lifetime)::integer from access.settings),
    -- In the order in which PostgREST serves them.
    'versions', (
      select coalesce(jsonb_agg(
        jsonb_build_object(
          'schema', served_schemas.name,
          'deprecated_at', retired_versions.deprecated_at,
          'sunset_at', retired_versions.sunset_at,
          'link', retired_versions.link
        )
        order by served_schemas.place
      ), '[]')
      from publication.served_schemas
      left join deployment.retired_versions on retired_versions.version = served_schemas.version
    )
  )
$$;
comment on function publication.describe_service is
  'Returns the live data set (null if there is none) with its number of public rows per table, how long a one-time token can be redeemed, and the served versions of the API with their announced retirement.';
grant execute on function publication.describe_service to site;
