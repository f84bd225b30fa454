-- Phrases are in quotation marks. Full-text search cannot find them quickly: its index has no positions of words, and parsing thousands of
-- texts again takes seconds.
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
  'Returns a regular expression for each phrase of two or more words in a search; null if there is none.';
