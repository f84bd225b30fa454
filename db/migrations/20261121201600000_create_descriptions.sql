-- How the service describes itself: the live data set in what PostgREST serves at /, what the app's pages tell of the API and
-- of totals, and whether a report is public. Only what the public may see anyway.
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
  'The live data set (null while there is none), with public rows by table; the versions of the API that are served, with what is announced of their end.';
grant execute on function publication.describe_service to report_service;

-- With the caller's rights, since everyone may read the catalogue. Of tables it tells those that the public may read.
create function publication.describe_api()
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'schema', served_schemas.name,
        -- The data set is told by publication.describe_service().
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
          -- PostgREST serves under /rpc what has no arguments, or arguments with names.
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
  'The served versions of the API, the oldest first: tables with columns, what each can embed, and functions, with their comments.';
grant execute on function publication.describe_api to report_service;

-- Whether a report's PDF may go to anyone: the report service asks, and the database decides.
-- It reads the public side alone, so that a suppressed report takes the same way as one that does not exist.
create function publication.is_public_report(asked_report_id text)
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (select settings.is_open from publication.settings)
    and exists (select from disclosed.general where general.report_id = asked_report_id);
end
$$;
comment on function publication.is_public_report is
  'Whether the live data set has this report in general, as a public one. No for a suppressed report, a superseded one, one that does not exist, and while the service is switched off.';
grant execute on function publication.is_public_report to report_service;

-- Totals of the live data set for the app's pages: what the API serves of them, without a request.
-- Null where the live data set was made without them. Of the public side alone, as publication.describe_service().
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
  'Totals of the live data set by state and by agency, and the day of its newest submission; null where it has none.';
grant execute on function publication.describe_totals to report_service;
