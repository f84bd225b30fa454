create or replace function publication.words_query(words text)
returns tsquery
language sql immutable strict security invoker set search_path = ''
as $$
  select string_agg('(' || listed.query || ')', ' & ')::tsquery
  from publication.read_words(words) as reading
  cross join lateral (
    select plainto_tsquery('pg_catalog.english', nullif(reading ->> 'all', ''))::text
    union all
    select (
      select string_agg(plainto_tsquery('pg_catalog.english', form)::text, ' | ')
      from jsonb_array_elements_text(forms) as form
    )
    from jsonb_array_elements(reading -> 'either') as forms
  ) as listed (query)
$$;
comment on function publication.words_query is
  'Returns the query for texts that have all words of a search, or words that auditors use for them. Returns null if there is nothing to search for, as in "of the".';
