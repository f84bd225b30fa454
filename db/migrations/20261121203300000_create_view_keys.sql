-- Which columns of an API view are unique together, from the constraints and indexes of the live data set. Pages and
-- the OpenAPI document show them, and db:check compares relationships with them.
-- Lock level: none.

-- Schemas with an API's name, whoever owns them: a refresh must not break a view that was made by hand either.
create view publication.view_columns as
select view.oid as view_id, pg_attribute.attname as name, found[2]::oid as origin_id, found[3]::integer as origin_place
from pg_catalog.pg_namespace
join pg_catalog.pg_class as view on view.relnamespace = pg_namespace.oid and view.relkind = 'v'
join pg_catalog.pg_rewrite on pg_rewrite.ev_class = view.oid
-- The parsed view names the column that each of its columns comes from, whatever the view calls it.
cross join lateral regexp_matches(
  pg_rewrite.ev_action::text, ':resno (\d+) :resname \S+ :ressortgroupref \d+ :resorigtbl (\d+) :resorigcol (\d+)', 'g'
) as found
join pg_catalog.pg_attribute on pg_attribute.attrelid = view.oid and pg_attribute.attnum = found[1]::integer
where pg_namespace.nspname ~ '^(admin_)?api_v[0-9]';
comment on view publication.view_columns is 'The columns of each API view, and the column of dissemination that each comes from.';
comment on column publication.view_columns.origin_id is 'The view of dissemination.';
comment on column publication.view_columns.origin_place is 'The column''s number in that view.';
grant select on publication.view_columns to publisher;

-- A view of the API reads one view of dissemination, which reads the table of the same name in disclosed. Null counts as a value
-- in a key, so that each row has a place in an order. Without "materialized", PostgreSQL would parse every view for each table.
create view publication.view_keys as (
  with view_columns as materialized (
    select view_columns.* from publication.view_columns
  ), sources as (
    select
      view_columns.view_id,
      view_columns.name as attname,
      source.oid as table_id,
      origin_column.attname as table_column
    from view_columns
    join pg_catalog.pg_class as origin
      on origin.oid = view_columns.origin_id and origin.relnamespace = to_regnamespace('dissemination')
    -- to_regclass() would need a privilege on the schema.
    join pg_catalog.pg_class as source
      on source.relname = origin.relname and source.relnamespace = to_regnamespace('disclosed')
    join pg_catalog.pg_attribute as origin_column
      on origin_column.attrelid = origin.oid and origin_column.attnum = view_columns.origin_place
  ), key_columns as (
    select pg_index.indrelid, pg_index.indexrelid, pg_index.indnkeyatts, pg_attribute.attname, part.place
    from pg_catalog.pg_index
    cross join lateral unnest(pg_index.indkey::smallint[]) with ordinality as part (attnum, place)
    join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_index.indrelid and pg_attribute.attnum = part.attnum
    where pg_index.indisunique and pg_index.indisvalid and pg_index.indpred is null and part.place <= pg_index.indnkeyatts
      and (pg_index.indnullsnotdistinct or pg_attribute.attnotnull)
  )
  select sources.view_id, array_agg(sources.attname::text order by key_columns.place) as columns
  from sources
  join key_columns on key_columns.indrelid = sources.table_id and key_columns.attname = sources.table_column
  group by sources.view_id, key_columns.indexrelid, key_columns.indnkeyatts
  having count(*) = key_columns.indnkeyatts
);
comment on view publication.view_keys is
  'The columns of each API view that are unique together, null included, as the live data set guarantees by a constraint or a unique index.';
comment on column publication.view_keys.columns is 'In the order of the index.';
grant select on publication.view_keys to report_service;

-- Describes each table's key as well.
create or replace function publication.describe_api()
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  with keys as materialized (
    select view_keys.view_id, to_jsonb(min(view_keys.columns)) as columns from publication.view_keys group by view_keys.view_id
  )
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
                'key', coalesce((select keys.columns from keys where keys.view_id = views.oid), '[]'),
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
