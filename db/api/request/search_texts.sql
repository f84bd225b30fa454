-- Full-text search (fts, plfts, phfts, wfts). PostgREST 12 sends `column @@ to_tsquery(…)`. PostgreSQL's own operator would read
-- texts in the language that a setting names, so no index would fit. This operator always reads them as English and uses the indexes
-- of words (db/data_set/indexes.sql). request.authorize() puts this schema before pg_catalog, so that PostgREST's `@@` and
-- `to_tsquery(text)` mean the operator and the functions of this file.

-- PostgreSQL inlines this body. It is parsed when it is created, because clients' roles may not use the schema extensions.
create function request.matches_text(document text, query tsquery)
returns boolean
language sql immutable parallel safe security invoker
return extensions.text_words(document) operator(pg_catalog.@@) query;
comment on function request.matches_text is 'Whether a text matches a full-text search. Implements the operator @@.';
grant execute on function request.matches_text to api_public, api_tribal;

create operator request.@@ (leftarg = text, rightarg = tsquery, function = request.matches_text, restrict = contsel);

-- Later versions of PostgREST send `to_tsvector(column) @@ to_tsquery(…)`, or `to_tsvector(language, column)` for a request that
-- names a language, such as fts(english). With these functions, both mean the same as with PostgREST 12, which always reads texts
-- as English.
create function request.to_tsvector(document text)
returns text
language sql immutable parallel safe security invoker
as $$ select document $$;
comment on function request.to_tsvector(text) is 'Returns its argument, so that full-text search uses request.matches_text.';
grant execute on function request.to_tsvector(text) to api_public, api_tribal;

create function request.to_tsvector(language regconfig, document text)
returns text
language sql immutable parallel safe security invoker
as $$ select document $$;
comment on function request.to_tsvector(regconfig, text) is 'Returns the text, so that full-text search uses request.matches_text.';
grant execute on function request.to_tsvector(regconfig, text) to api_public, api_tribal;

-- PostgreSQL's own functions of one argument depend on a setting, so the planner does not know the words of their result.
do $$
declare
  name text;
begin
  foreach name in array array['to_tsquery', 'plainto_tsquery', 'phraseto_tsquery', 'websearch_to_tsquery'] loop
    execute format(
      'create function request.%1$I(query text) returns tsquery
       language sql immutable strict security invoker set search_path = ''''
       as ''select pg_catalog.%1$I(''''pg_catalog.english'''', query)''', name
    );
    execute format('comment on function request.%I(text) is %L', name, 'PostgreSQL''s function of this name, always for English.');
    execute format('grant execute on function request.%I(text) to api_public, api_tribal', name);
  end loop;
end
$$;
