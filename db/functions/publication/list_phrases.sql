-- A phrase is written between quotation marks. The search of texts by words knows no phrases: its index has no places of words, and
-- reading the words of thousands of texts again takes seconds.
create or replace function publication.list_phrases(words text)
returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select array_agg('\m' || replace(phrases.words, ' ', '[^[:alnum:]]+') || '\M')
  from (
    select trim(extensions.split_name(found.parts[1])) as words
    from regexp_matches("left"(words, 200), '["“”]([^"“”]+)["“”]', 'g') as found (parts)
  ) as phrases
  where phrases.words like '% %'
$$;
comment on function publication.list_phrases is
  'Returns a regular expression for each phrase of two or more words in a search. It is null if there is none.';
