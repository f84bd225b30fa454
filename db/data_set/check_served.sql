-- Compares the columns that the deployed API serves with those of a generation of the data set. A view depends on the columns
-- that it reads; if it reads none, refobjsubid is 0. Parameter: the generation's schema.
--
-- line: what differs. is_refused: false for a column that clients were not promised and that only has another type or
-- collation, because the publication rebuilds the API then.
with served as (
  select distinct pg_depend.objid, view.oid, view.relname, pg_depend.refobjsubid, reader.oid as reader_oid,
    format('%s.%s', pg_namespace.nspname, reader.relname) as reader
  from pg_catalog.pg_class as view
  join pg_catalog.pg_depend
    on pg_depend.refclassid = 'pg_class'::regclass and pg_depend.refobjid = view.oid
    and pg_depend.classid = 'pg_rewrite'::regclass
  join pg_catalog.pg_rewrite on pg_rewrite.oid = pg_depend.objid
  join pg_catalog.pg_class as reader on reader.oid = pg_rewrite.ev_class and reader.oid <> view.oid
  join pg_catalog.pg_namespace on pg_namespace.oid = reader.relnamespace
  where view.relnamespace = 'dissemination'::regnamespace
    and pg_namespace.nspname ~ '^(admin_)?api_v[0-9]'
), promised as (
  select
    format('%s.%s', contract ->> 'schema', promised_view.key) as reader,
    promised_column ->> 'name' as name
  from (select promises.contracts from publication.promises order by promises.id desc limit 1) as newest
  cross join lateral jsonb_array_elements(newest.contracts) as contract
  cross join lateral jsonb_each(contract -> 'views') as promised_view
  cross join lateral jsonb_array_elements(promised_view.value -> 'columns') as promised_column
), sources as materialized (
  select view_columns.view_id, view_columns.name, view_columns.origin_id, view_columns.origin_place from publication.view_columns
), compared as (
  select served.reader, served.relname, served.refobjsubid, old.attname, new.attname is null as is_gone,
    to_regclass(format('%I.%I', $1::text, served.relname)) is null as is_table_gone,
    format_type(old.atttypid, old.atttypmod) as old_type, format_type(new.atttypid, new.atttypmod) as new_type,
    old.attcollation is distinct from new.attcollation as is_collated_otherwise,
    exists (
      select from sources
      join promised on promised.reader = served.reader and promised.name = sources.name
      where sources.view_id = served.reader_oid and sources.origin_id = served.oid
        and sources.origin_place = served.refobjsubid
    ) as is_promised
  from served
  left join pg_catalog.pg_attribute as old on old.attrelid = served.oid and old.attnum = served.refobjsubid
  left join pg_catalog.pg_attribute as new
    on new.attrelid = to_regclass(format('%I.%I', $1::text, served.relname)) and new.attname = old.attname
    and new.attnum > 0 and not new.attisdropped
)
select distinct
  case
    when is_table_gone then format('%s serves the table %s, which this data set does not have.', reader, relname)
    when is_gone then format('%s serves %s.%s, which this data set does not have.', reader, relname, attname)
    when old_type <> new_type then
      format('%s serves %s.%s as %s, but in this data set it is %s.', reader, relname, attname, old_type, new_type)
    else format('%s serves %s.%s, but in this data set its collation is different.', reader, relname, attname)
  end || case when is_promised and not is_table_gone and not is_gone then ' Clients were promised the type.' else '' end as line,
  is_table_gone or is_gone or is_promised as is_refused
from compared
where is_table_gone or refobjsubid > 0 and (is_gone or old_type <> new_type or is_collated_otherwise)
order by line
