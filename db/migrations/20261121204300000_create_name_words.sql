-- The words by which names are found, without regard to case, accents and punctuation.
-- Lock level: none on tables.

create extension unaccent with schema extensions;

create text search configuration extensions.names (copy = pg_catalog.simple);
comment on text search configuration extensions.names is
  'Words of names, without accents. The parts of a hyphenated word are words of their own.';
alter text search configuration extensions.names drop mapping for asciihword, hword, numhword;
alter text search configuration extensions.names
  alter mapping for word, numword, hword_part, hword_numpart with extensions.unaccent, pg_catalog.simple;

create function extensions.split_name(name text)
returns text
language sql immutable strict parallel safe security invoker
return pg_catalog.regexp_replace(
  pg_catalog.normalize(name, 'NFC') collate pg_catalog.pg_c_utf8, '[^[:alnum:]]+', ' ', 'g'
);
comment on function extensions.split_name is 'Replaces what is not a letter or a digit with spaces.';

create function extensions.shorten_name(name text)
returns text
language sql immutable strict parallel safe security invoker
return pg_catalog.translate(name, '.''‘’', '');
comment on function extensions.shorten_name is 'Removes periods and apostrophes, which people leave out: Y.M.C.A., O''Neill.';

-- The indexes of names (db/data_set/indexes.sql) and, for API users, request.words() call this. A query finds a name with
-- punctuation in each form: split at its punctuation, without periods and apostrophes, and as PostgreSQL's parser reads it, which
-- takes "county/city" as one word. Names differ in small words ("County of Shelby", "Shelby County"), so every name gets all of
-- them.
--
-- It is strict, so that PostgreSQL does not inline it. Its cost keeps PostgreSQL from calling it for each row instead of using an
-- index.
create function extensions.name_words(name text)
returns tsvector
language sql immutable strict parallel safe security invoker cost 10000
return pg_catalog.to_tsvector(
  'extensions.names',
  case
    when name ~ '[^a-zA-Z0-9 ,]' then pg_catalog.concat_ws(
      ' ', pg_catalog.normalize(name, 'NFC'), extensions.split_name(name), extensions.split_name(extensions.shorten_name(name))
    )
    else name
  end
) || '''a'' ''an'' ''and'' ''at'' ''for'' ''in'' ''of'' ''the'' ''to'''::tsvector;
comment on function extensions.name_words is 'Returns the words by which a name is found.';
-- Building an index and comparing a row run them with the caller's rights.
grant execute on function
  extensions.split_name, extensions.shorten_name, extensions.name_words
to publisher, api_public, api_tribal;

create function extensions.name_query(written text)
returns tsquery
language sql immutable strict parallel safe security invoker
return pg_catalog.plainto_tsquery('extensions.names', extensions.split_name(written))
  || pg_catalog.plainto_tsquery('extensions.names', extensions.split_name(extensions.shorten_name(written)));
comment on function extensions.name_query is 'Returns a query for names that have all these words.';

-- Words of one or two letters must match whole words, because too many words begin with them.
create function extensions.name_beginnings_query(written text)
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
