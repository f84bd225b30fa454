create or replace function publication.list_phrases(words text, alternative integer default null, excluded boolean default null)
returns text[]
language sql immutable security invoker set search_path = ''
as $$
  select array_agg(part ->> 'pattern')
  from jsonb_array_elements(publication.read_words(words)) with ordinality as reading (parts, place)
  cross join lateral jsonb_array_elements(reading.parts) as part
  where part ? 'pattern'
    and (alternative is null or reading.place = alternative)
    and (excluded is null or (part ->> 'is_excluded')::boolean = excluded)
$$;
comment on function publication.list_phrases is
  'Returns a regular expression for each phrase of two or more words in a search, or in one of its alternatives: all phrases, or only those that a text must have or must lack. Null if there is none.';
