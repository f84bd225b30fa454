-- Describes the tables of the bulk files: types, and JSON Table Schemas (https://specs.frictionlessdata.io/table-schema/).
-- Columns and keys come from the database, and descriptions from the newest version of the API. Parameter: the schema of the
-- public side. The suppressed side has one table for each source table, so it names the source tables.
with newest as (
  select distinct on (view.relname) view.oid, view.relname
  from publication.served_schemas
  join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid
  where served_schemas.name like 'api%'
  order by view.relname, served_schemas.place desc
), keys as (
  select
    pg_constraint.conrelid,
    pg_constraint.confrelid,
    pg_constraint.contype,
    pg_constraint.conname,
    (
      select bool_and(pg_attribute.attnotnull)
      from pg_catalog.pg_attribute
      where pg_attribute.attrelid = pg_constraint.conrelid and pg_attribute.attnum = any (pg_constraint.conkey)
    ) as is_required,
    (
      select json_agg(pg_attribute.attname order by part.place)
      from unnest(pg_constraint.conkey) with ordinality as part (attnum, place)
      join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_constraint.conrelid and pg_attribute.attnum = part.attnum
    ) as fields,
    (
      select json_agg(pg_attribute.attname order by part.place)
      from unnest(pg_constraint.confkey) with ordinality as part (attnum, place)
      join pg_catalog.pg_attribute on pg_attribute.attrelid = pg_constraint.confrelid and pg_attribute.attnum = part.attnum
    ) as other_fields
  from pg_catalog.pg_constraint
)
select pg_class.relname as table, (
  select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
  from pg_catalog.pg_attribute
  where attrelid = pg_class.oid and attnum > 0 and not attisdropped
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
    'primaryKey', (
      select keys.fields from keys
      where keys.conrelid = pg_class.oid and keys.contype in ('p', 'u') and keys.is_required order by keys.contype, keys.conname limit 1
    ),
    'uniqueKeys', (
      select json_agg(keys.fields order by keys.conname) from keys
      where keys.conrelid = pg_class.oid and keys.contype = 'u' and not keys.is_required
    ),
    'foreignKeys', (
      select json_agg(json_build_object(
        'fields', keys.fields,
        'reference', json_build_object('resource', (select target.relname from pg_catalog.pg_class as target where target.oid = keys.confrelid), 'fields', keys.other_fields)
      ) order by keys.conname)
      from keys where keys.conrelid = pg_class.oid and keys.contype = 'f'
    )
  )
)) as description
from pg_catalog.pg_class
join pg_catalog.pg_class as source
  on source.relnamespace = replace($1, 'disclosed', 'suppressed')::regnamespace
  and source.relkind = 'r' and source.relname = pg_class.relname
left join newest on newest.relname = pg_class.relname
where pg_class.relnamespace = $1::regnamespace
order by source.oid
