-- Finds columns of the API whose comment lacks a label, a description or both. The first line of a comment is the column's
-- label on the pages; the rest describes the column.

select format(
  'db/api/%1$s/%2$s.sql: the comment of the column %3$s needs a label of up to 60 characters, without a period, and a description. Write: '
  'comment on column %1$s.%2$s.%3$s is E''Label\n'' ''Description.'';',
  served_schemas.name, relname, attname
) as problem
from publication.served_schemas
join pg_catalog.pg_class on relnamespace = served_schemas.oid and relkind = 'v'
join pg_catalog.pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
where coalesce(col_description(attrelid, attnum), '') !~ '^[A-Z][^\n.]{1,60}\n\S'
order by served_schemas.place, relname, attnum
