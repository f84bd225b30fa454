-- PostgreSQL's extensions: trigrams, for look-ups by a part of a name.
-- Lock level: none on tables.

create schema extensions;
comment on schema extensions is 'PostgreSQL extensions, out of the way of the served schemas.';
create extension pg_trgm with schema extensions;
-- The publisher builds the trigram index; readers use it through the operators of pg_catalog.
grant usage on schema extensions to publisher;
grant execute on all functions in schema extensions to publisher;
