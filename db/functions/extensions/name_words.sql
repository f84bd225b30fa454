-- The indexes of names (db/data_set/indexes.sql) and, for API users, request.words() call this. A query finds a name with
-- punctuation in each form: split at its punctuation, without periods and apostrophes, and as PostgreSQL's parser reads it, which
-- takes "county/city" as one word. Names differ in small words ("County of Shelby", "Shelby County"), so every name gets all of
-- them.
--
-- It is strict, so that PostgreSQL does not inline it. Its cost keeps PostgreSQL from calling it for each row instead of using an
-- index.
create or replace function extensions.name_words(name text)
returns tsvector
language sql immutable strict parallel safe security invoker cost 10000
return pg_catalog.to_tsvector(
  'extensions.names',
  case
    when name ~ '[^a-zA-Z0-9 ,]' then pg_catalog.concat_ws(
      ' ',
      pg_catalog.normalize(pg_catalog."left"(name, 10000), 'NFC'),
      extensions.split_name(pg_catalog."left"(name, 10000)),
      extensions.split_name(extensions.shorten_name(pg_catalog."left"(name, 10000)))
    )
    else pg_catalog."left"(name, 10000)
  end
) || '''a'' ''an'' ''and'' ''at'' ''for'' ''in'' ''of'' ''the'' ''to'''::tsvector;
comment on function extensions.name_words is
  'Returns the words by which a name is found, of its first 10,000 characters.';
grant execute on function extensions.name_words to publisher, api_public, api_tribal;
