-- Names and searches have "St." or "Saint".
create or replace function extensions.name_query(written text)
returns tsquery
language sql immutable strict parallel safe security invoker
return pg_catalog.ts_rewrite(
  pg_catalog.ts_rewrite(
    pg_catalog.plainto_tsquery('extensions.names', extensions.split_name(written))
    || pg_catalog.plainto_tsquery('extensions.names', extensions.split_name(extensions.shorten_name(written))),
    '''saint''', '''st'''
  ),
  '''st''', '''st'' | ''saint'''
);
comment on function extensions.name_query is
  'Returns a query for names that have all these words. "St." and "Saint" are the same word.';
