create or replace function extensions.split_name(name text)
returns text
language sql immutable strict parallel safe security invoker
return pg_catalog.regexp_replace(
  pg_catalog.normalize(name, 'NFC') collate pg_catalog.pg_c_utf8, '[^[:alnum:]]+', ' ', 'g'
);
comment on function extensions.split_name is 'Replaces what is not a letter or a digit with spaces.';
grant execute on function extensions.split_name to publisher, api_public, api_tribal;
