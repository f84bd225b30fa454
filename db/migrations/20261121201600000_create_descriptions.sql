-- Functions that describe the service with public data only: the live data set in the description that PostgREST serves at /,
-- the API and the totals for the pages, and whether a report is public.
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

create function publication.describe_service()
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
      where data_sets.state = 'live' and data_sets.source <> 'empty'
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
grant execute on function publication.describe_service to report_service;

-- Runs with the caller's rights, because every role may read the catalog. Describes only tables that api_public may read.
create function publication.describe_api()
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'schema', served_schemas.name,
        -- publication.describe_service() returns the data set.
        'description', regexp_replace(
          obj_description(served_schemas.oid, 'pg_namespace'), '\n\nData set [0-9a-f-]{36}, published \S+$', ''
        ),
        'tables', (
          select coalesce(
            jsonb_agg(
              jsonb_build_object(
                'name', views.relname,
                'description', coalesce(obj_description(views.oid, 'pg_class'), ''),
                'columns', (
                  select jsonb_agg(
                    jsonb_build_object(
                      'name', pg_attribute.attname,
                      'type', format_type(pg_attribute.atttypid, pg_attribute.atttypmod),
                      'description', coalesce(col_description(views.oid, pg_attribute.attnum), '')
                    )
                    order by pg_attribute.attnum
                  )
                  from pg_catalog.pg_attribute
                  where pg_attribute.attrelid = views.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
                ),
                -- Computed relationships: functions of a row (api_v1_1_0/schema.sql).
                'embeds', (
                  select coalesce(jsonb_agg(pg_proc.proname order by pg_proc.proname), '[]')
                  from pg_catalog.pg_proc
                  where pg_proc.pronamespace = served_schemas.oid and pg_proc.pronargs = 1
                    and pg_proc.proargtypes[0] = views.reltype and pg_proc.proretset
                )
              )
              order by views.relname <> 'general', views.relname
            ),
            '[]'
          )
          from pg_catalog.pg_class as views
          where views.relnamespace = served_schemas.oid and views.relkind = 'v'
            and has_table_privilege('api_public', views.oid, 'select')
        ),
        'functions', (
          select coalesce(
            jsonb_agg(
              jsonb_build_object(
                'name', pg_proc.proname,
                'description', coalesce(obj_description(pg_proc.oid, 'pg_proc'), ''),
                'parameters', (
                  select coalesce(
                    jsonb_agg(jsonb_build_object('name', parameter.name, 'type', format_type(parameter.type, null))), '[]'
                  )
                  from unnest(pg_proc.proargnames, pg_proc.proargtypes::oid[]) as parameter (name, type)
                  where parameter.type is not null
                )
              )
              order by pg_proc.proname
            ),
            '[]'
          )
          from pg_catalog.pg_proc
          -- PostgREST serves functions under /rpc only if they have no arguments or named arguments.
          where pg_proc.pronamespace = served_schemas.oid and (pg_proc.pronargs = 0 or pg_proc.proargnames is not null)
        )
      )
      order by served_schemas.place
    ),
    '[]'
  )
  from publication.served_schemas
$$;
comment on function publication.describe_api is
  'Returns the served versions of the API, oldest first, with their tables, columns, relationships and functions, and the comments on them.';
grant execute on function publication.describe_api to report_service;

-- The report service calls this before it hands out a PDF without a token, and asks publication.is_switched_on() in the same
-- statement. This function does not, so that publication.find_leaks() sees what it says while the service is switched off.
-- It reads only the public tables, so a suppressed report is handled exactly like one that does not exist.
create function publication.is_public_report(asked_report_id text)
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return exists (select from disclosed.general where general.report_id = asked_report_id);
end
$$;
comment on function publication.is_public_report is
  'Whether the report may be downloaded without a key: true if disclosed.general has it; false if it is suppressed, superseded or unknown.';
grant execute on function publication.is_public_report to report_service;

-- The report service calls this to show the totals on its pages without a request to the API. It reads only public tables.
-- Data sets that were built by older definitions have no totals.
create function publication.describe_totals()
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  if to_regclass('dissemination.totals_by_state') is null then
    return null;
  end if;
  return (
    select jsonb_build_object(
      'newest_submission', (select max(general.fac_accepted_date) from disclosed.general),
      'totals_by_state', (select coalesce(jsonb_agg(to_jsonb(totals_by_state)), '[]') from disclosed.totals_by_state),
      'totals_by_agency', (select coalesce(jsonb_agg(to_jsonb(totals_by_agency)), '[]') from disclosed.totals_by_agency)
    )
  );
end
$$;
comment on function publication.describe_totals is
  'Returns the totals of the live data set by state and by agency, and the date of its newest submission. Returns null if the data set has no totals.';
grant execute on function publication.describe_totals to report_service;
