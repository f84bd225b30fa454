create or replace function extensions.shorten_name(name text)
returns text
language sql immutable strict parallel safe security invoker
return pg_catalog.translate(name, '.''‘’', '');
comment on function extensions.shorten_name is 'Removes periods and apostrophes, which people leave out: Y.M.C.A., O''Neill.';
grant execute on function extensions.shorten_name to publisher, api_public, api_tribal;
