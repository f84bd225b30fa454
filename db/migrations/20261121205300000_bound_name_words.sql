-- A name of a megabyte is too long for a tsvector, and an index of words would fail for the whole data set. So a name has the words
-- of its first 10,000 characters.
-- Lock level: none on tables.

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
