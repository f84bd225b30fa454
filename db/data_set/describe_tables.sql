-- Describes the tables of the bulk files: types, and JSON Table Schemas (https://specs.frictionlessdata.io/table-schema/).
-- Columns and keys come from the database, and descriptions from the newest version of the API. Parameter: the schema of the
-- public rows.
with newest as (
  select distinct on (view.relname) view.oid, view.relname
  from publication.served_schemas
  join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid
  where served_schemas.name like 'api%'
  order by view.relname, served_schemas.place desc
)
select tables.name as table, (
  select json_agg(json_build_object('name', columns.name, 'type', columns.type) order by columns.place)
  from data_set.list_columns(pg_class.oid) as columns
) as columns, json_strip_nulls(json_build_object(
  'name', pg_class.relname,
  'title', coalesce(split_part(obj_description(newest.oid, 'pg_class'), E'\n', 1), ''),
  'description', coalesce(
    trim(E'\n ' from regexp_replace(obj_description(newest.oid, 'pg_class'), '^[^\n]*', '')), ''
  ),
  'schema', json_build_object(
    'fields', (
      select json_agg(json_build_object(
        'name', pg_attribute.attname,
        'type', case format_type(pg_attribute.atttypid, null)
          when 'bigint' then 'integer' when 'integer' then 'integer' when 'boolean' then 'boolean' when 'date' then 'date'
          else 'string'
        end,
        -- The first line of a comment is a label for people.
        'title', coalesce(split_part(served.comment, E'\n', 1), ''),
        'description', coalesce(trim(E'\n ' from regexp_replace(served.comment, '^[^\n]*', '')), ''),
        -- The format in which COPY writes values.
        'trueValues', case when pg_attribute.atttypid = 'boolean'::regtype then json_build_array('t') end,
        'falseValues', case when pg_attribute.atttypid = 'boolean'::regtype then json_build_array('f') end,
        -- The file of a table that has stubs has their rows, too.
        'constraints', case
          when pg_attribute.attnotnull and not exists (
            select from pg_catalog.pg_class as stubs
            left join pg_catalog.pg_attribute as stub_column
              on stub_column.attrelid = stubs.oid and stub_column.attname = pg_attribute.attname
            where stubs.relnamespace = pg_class.relnamespace and stubs.relname = pg_class.relname || '_stubs'
              and stub_column.attnotnull is not true
          )
            then json_build_object('required', true)
        end
      ) order by pg_attribute.attnum)
      from pg_catalog.pg_attribute
      -- The newest version that serves the column by its name.
      left join lateral (
        select col_description(view.oid, view_column.attnum) as comment
        from publication.served_schemas
        join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid and view.relname = pg_class.relname
        join pg_catalog.pg_attribute as view_column
          on view_column.attrelid = view.oid and view_column.attname = pg_attribute.attname
        where served_schemas.name like 'api%'
        order by served_schemas.place desc
        limit 1
      ) as served on true
      where pg_attribute.attrelid = pg_class.oid and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
    ),
    -- In CSV, null is empty, and the empty string is two quotation marks.
    'missingValues', json_build_array(''),
    -- The columns of a primary key are never null.
    'primaryKey', case when keys.is_required then keys.columns end,
    'uniqueKeys', case when not keys.is_required then array[keys.columns] end,
    'foreignKeys', (
      select json_agg(json_build_object(
        'fields', array['report_id'], 'reference', json_build_object('resource', 'general', 'fields', array['report_id'])
      ))
      from pg_catalog.pg_constraint where pg_constraint.conrelid = pg_class.oid and pg_constraint.contype = 'f'
    )
  )
)) as description
from data_set.tables
join pg_catalog.pg_class on pg_class.relnamespace = $1::regnamespace and pg_class.relname = tables.name
cross join lateral (
  select keyed.columns, (
    select bool_and(pg_attribute.attnotnull)
    from pg_catalog.pg_attribute
    where pg_attribute.attrelid = pg_class.oid and pg_attribute.attname = any (keyed.columns)
  ) as is_required
  from (select coalesce(tables.key_columns, '{row_number}') as columns) as keyed
) as keys
left join newest on newest.relname = tables.name
where tables.is_source
order by tables.place
