-- Finds columns that the deployed API serves but a generation of the data set lacks, or has with another type. A view depends
-- on the columns that it reads; if it reads none, refobjsubid is 0. Parameter: the generation's schema.
with served as (
  select distinct pg_depend.objid, view.oid, view.relname, pg_depend.refobjsubid,
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
), compared as (
  select served.reader, served.relname, served.refobjsubid, old.attname, new.attname is null as is_gone,
    to_regclass(format('%I.%I', $1::text, served.relname)) is null as is_table_gone,
    format_type(old.atttypid, old.atttypmod) as old_type, format_type(new.atttypid, new.atttypmod) as new_type,
    old.attcollation is distinct from new.attcollation as is_collated_otherwise
  from served
  left join pg_catalog.pg_attribute as old on old.attrelid = served.oid and old.attnum = served.refobjsubid
  left join pg_catalog.pg_attribute as new
    on new.attrelid = to_regclass(format('%I.%I', $1::text, served.relname)) and new.attname = old.attname
    and new.attnum > 0 and not new.attisdropped
)
select distinct case
    when is_table_gone then format('%s serves the table %s, which this data set does not have.', reader, relname)
    when is_gone then format('%s serves %s.%s, which this data set does not have.', reader, relname, attname)
    when old_type <> new_type then
      format('%s serves %s.%s as %s, but in this data set it is %s.', reader, relname, attname, old_type, new_type)
    else format('%s serves %s.%s, but in this data set its collation is different.', reader, relname, attname)
  end as line
from compared
where is_table_gone or refobjsubid > 0 and (is_gone or old_type <> new_type or is_collated_otherwise)
order by line
