-- The indexes of texts (db/data_set/indexes.sql) and full-text search (request.matches_text) call this. It is PL/pgSQL, so that
-- PostgreSQL does not inline it, and its cost keeps PostgreSQL from calling it for each row instead of using an index. A tsvector
-- holds at most 1 MB, and a longer one would end a refresh.
create or replace function extensions.text_words(document text)
returns tsvector
language plpgsql immutable strict parallel safe security invoker cost 10000
as $$
begin
  return pg_catalog.to_tsvector(
    'pg_catalog.english',
    case when pg_catalog.octet_length(document) > 100000 then pg_catalog."left"(document, 100000) else document end
  );
end
$$;
comment on function extensions.text_words is
  'Returns the words by which full-text search finds a text, of its first 100,000 characters.';
grant execute on function extensions.text_words to publisher, api_public, api_tribal;
