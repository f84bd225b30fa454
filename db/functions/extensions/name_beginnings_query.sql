-- Words of one or two letters must match whole words, because too many words begin with them.
create or replace function extensions.name_beginnings_query(written text)
returns tsquery
language sql immutable strict parallel safe security invoker
return (
  select pg_catalog.string_agg(
    pg_catalog.quote_literal(words.lexeme) || case when pg_catalog.length(words.lexeme) > 2 then ':*' else '' end, ' & '
  )::tsquery
  from pg_catalog.unnest(
    pg_catalog.to_tsvector('extensions.names', extensions.split_name(extensions.shorten_name(written)))
  ) as words
);
comment on function extensions.name_beginnings_query is 'Returns a query for names that have words that begin with each of these.';
