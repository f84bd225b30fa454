-- Search for words of names, without regard to case, accents and punctuation, as in general?words=plfts(names).anasco. PostgREST
-- asks for the column general.words, which PostgreSQL reads as words(general), because request.authorize() puts this schema
-- on the search path. PostgREST finds the configuration `names` in the same way.

create text search configuration request.names (copy = extensions.names);
comment on text search configuration request.names is 'The words of names (extensions.name_words).';

-- Clients' roles may not use the schema extensions. PostgreSQL resolves this body when it creates the function.
create function request.name_words(name text)
returns tsvector
language sql immutable parallel safe security invoker
return extensions.name_words(name);
comment on function request.name_words is 'Returns the words by which a name is found.';
grant execute on function request.name_words to api_public, api_tribal;

-- The argument is a row of any view that has such a column, because these functions exist before the API's views. They set no
-- search_path, so that PostgreSQL inlines them and uses the indexes.
create function request.words(anyelement)
returns tsvector
language sql immutable parallel safe security invoker
as 'select request.name_words(($1).auditee_name)';
comment on function request.words is 'The words of the auditee''s name, to filter by: words=plfts(names).anasco.';
grant execute on function request.words to api_public, api_tribal;

create function request.auditor_words(anyelement)
returns tsvector
language sql immutable parallel safe security invoker
as 'select request.name_words(($1).auditor_firm_name)';
comment on function request.auditor_words is 'The words of the auditor''s name, to filter by: auditor_words=plfts(names).smith.';
grant execute on function request.auditor_words to api_public, api_tribal;
