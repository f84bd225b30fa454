-- Extensions, and the text search configuration for names: words without regard to case, accents and punctuation. The functions in
-- this schema (db/functions/extensions) are created as soon as the schema exists.
-- Lock level: none on tables.

create schema extensions;
comment on schema extensions is 'PostgreSQL extensions, kept apart from the served schemas.';
create extension pg_trgm with schema extensions;

-- The publisher builds the trigram index; readers use it through the operators of pg_catalog.
create extension unaccent with schema extensions;
grant usage on schema extensions to publisher;
do $$
begin
  -- If the deploying role is not a superuser, the functions belong to one, and every role may already execute them.
  if not has_function_privilege('publisher', 'extensions.similarity(text, text)', 'execute') then
    grant execute on all functions in schema extensions to publisher;
  end if;
end
$$;

create text search configuration extensions.names (copy = pg_catalog.simple);
comment on text search configuration extensions.names is
  'Words of names, without accents. The parts of a hyphenated word are words of their own.';
alter text search configuration extensions.names drop mapping for asciihword, hword, numhword;
alter text search configuration extensions.names
  alter mapping for word, numword, hword_part, hword_numpart with extensions.unaccent, pg_catalog.simple;
