create or replace function data_set.list_columns(relation regclass)
returns table (place integer, name text, type text)
language sql stable security invoker set search_path = ''
as $$
  select row_number() over (order by pg_attribute.attnum), pg_attribute.attname,
    format_type(pg_attribute.atttypid, pg_attribute.atttypmod)
  from pg_catalog.pg_attribute
  where pg_attribute.attrelid = relation and pg_attribute.attnum > 0 and not pg_attribute.attisdropped
$$;
comment on function data_set.list_columns is 'The columns of a table, in order.';
grant execute on function data_set.list_columns to publisher;
