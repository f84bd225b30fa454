create or replace function extensions.name_query(written text)
returns tsquery
language sql immutable strict parallel safe security invoker
return pg_catalog.plainto_tsquery('extensions.names', extensions.split_name(written))
  || pg_catalog.plainto_tsquery('extensions.names', extensions.split_name(extensions.shorten_name(written)));
comment on function extensions.name_query is 'Returns a query for names that have all these words.';
