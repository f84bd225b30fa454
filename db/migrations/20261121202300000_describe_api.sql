-- What the app's reference and explorer say of the API: tables, columns and their texts, as they are deployed.
-- Lock level: none.

-- With the caller's rights, since everyone may read the catalogue. Of tables it tells those that the public may read.
create function publication.describe_api()
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'schema', pg_namespace.nspname,
        -- The data set is told by publication.describe_service().
        'description', regexp_replace(
          obj_description(pg_namespace.oid, 'pg_namespace'), '\n\nData set [0-9a-f-]{36}, published \S+$', ''
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
                  where pg_proc.pronamespace = pg_namespace.oid and pg_proc.pronargs = 1
                    and pg_proc.proargtypes[0] = views.reltype and pg_proc.proretset
                )
              )
              order by views.relname <> 'general', views.relname
            ),
            '[]'
          )
          from pg_catalog.pg_class as views
          where views.relnamespace = pg_namespace.oid and views.relkind = 'v'
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
          -- PostgREST serves those whose arguments have names under /rpc.
          where pg_proc.pronamespace = pg_namespace.oid and pg_proc.proargnames is not null
        )
      )
      order by
        pg_namespace.nspname like 'admin%',
        string_to_array(substring(pg_namespace.nspname from 'api_v(.+)$'), '_')::integer[]
    ),
    '[]'
  )
  from pg_catalog.pg_namespace
  where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]+(_[0-9]+)*$'
    and pg_namespace.nspowner = (
      select request.nspowner from pg_catalog.pg_namespace as request where request.nspname = 'request'
    )
$$;
comment on function publication.describe_api is
  'The served versions of the API, the oldest first: tables with columns, what each can embed, and functions, with their comments.';
grant execute on function publication.describe_api to report_service;
