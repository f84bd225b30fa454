-- Full-text search (fts, plfts, phfts, wfts). PostgREST 12 sends `column @@ to_tsquery(…)`, for which PostgreSQL would compute
-- to_tsvector() of every text, because no index fits. This operator gives the same answer, but first searches for parts of words,
-- which the trigram indexes find (db/data_set/indexes.sql). request.authorize() puts this schema before pg_catalog, so that
-- PostgREST's `@@` and `to_tsquery(text)` mean the operator and the functions of this file.

-- A regular expression for a word that every matching text contains: the longest word for place 1, the next for place 2. If
-- one of several words is enough (|), for any word. Empty if the query has no such word. English stemming changes at most the
-- last letter of what is left of a word (community → communiti), so that letter is dropped.
create function request.find_pattern(query tsquery, place integer)
returns text
language sql immutable security invoker set search_path = ''
as $$
  with words as (
    select left(found[1], -1) as word
    -- Without words that must be absent (!).
    from regexp_matches(querytree(query), '''((?:[^'']|'''')*)''', 'g') as found
  ), sorted as (
    select
      array_agg(words.word order by length(words.word) desc, words.word) filter (where words.word ~ '^[a-z0-9]{3,}$') as usable,
      count(*) as words
    from words
  )
  select coalesce(
    case
      when regexp_replace(querytree(query), '''(?:[^'']|'''')*''', '', 'g') not like '%|%' then
        sorted.usable[least(place, cardinality(sorted.usable))]
      when cardinality(sorted.usable) = sorted.words then array_to_string(sorted.usable, '|')
    end,
    ''
  )
  from sorted
$$;
comment on function request.find_pattern is
  'Returns a regular expression that matches every text that a full-text search finds, for the trigram indexes.';
grant execute on function request.find_pattern to api_public, api_tribal;

-- Without a search_path, so that PostgreSQL inlines the body, which can use an index. A generic plan cannot, and the cost of the
-- function keeps PostgreSQL from choosing one.
create function request.matches_text(document text, query tsquery)
returns boolean
language sql immutable parallel safe security invoker cost 1000000
as $$
  select document operator(pg_catalog.~*) request.find_pattern(query, 1)
    and document operator(pg_catalog.~*) request.find_pattern(query, 2)
    and pg_catalog.to_tsvector('pg_catalog.english', document) operator(pg_catalog.@@) query
$$;
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
