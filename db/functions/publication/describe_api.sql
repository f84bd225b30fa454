-- Runs with the caller's rights, because every role may read the catalog. Describes only tables that api_public may read.
create or replace function publication.describe_api()
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  with keys as materialized (
    select view_keys.view_id, to_jsonb(min(view_keys.columns)) as columns from publication.view_keys group by view_keys.view_id
  ), required_columns as materialized (
    select required_columns.view_id, jsonb_agg(required_columns.name order by required_columns.name) as names
    from publication.required_columns
    group by required_columns.view_id
  )
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'schema', served_schemas.name,
        'description', obj_description(served_schemas.oid, 'pg_namespace'),
        'tables', (
          select coalesce(
            jsonb_agg(
              jsonb_build_object(
                'name', views.relname,
                'description', coalesce(obj_description(views.oid, 'pg_class'), ''),
                'key', coalesce((select keys.columns from keys where keys.view_id = views.oid), '[]'),
                'required_columns',
                coalesce((select required_columns.names from required_columns where required_columns.view_id = views.oid), '[]'),
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
  'Returns the served versions of the API, oldest first, with their tables, keys, columns, relationships and functions, and the comments on them.';
grant execute on function publication.describe_api to site;
