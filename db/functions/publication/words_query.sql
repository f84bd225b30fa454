create or replace function publication.words_query(words text, alternatives integer[] default null)
returns tsquery
language sql immutable security invoker set search_path = ''
as $$
  select string_agg('(' || listed.query || ')', ' | ')::tsquery
  from (
    select string_agg(case when (part ->> 'is_excluded')::boolean then '!' else '' end || '(' || forms.query || ')', ' & ') as query
    from jsonb_array_elements(publication.read_words(words)) with ordinality as reading (parts, place)
    cross join lateral jsonb_array_elements(reading.parts) as part
    cross join lateral (
      select string_agg(plainto_tsquery('pg_catalog.english', form)::text, ' | ') as query
      from jsonb_array_elements_text(part -> 'forms') as form
    ) as forms
    where forms.query <> '' and not (part ? 'pattern' and (part ->> 'is_excluded')::boolean)
      and (alternatives is null or reading.place = any (alternatives))
    group by reading.place
  ) as listed
$$;
comment on function publication.words_query is
  'Returns the query for texts that have the words of a search, or words that auditors use for them: of all its alternatives, or of these (1 is the first). Returns null if there is nothing to search for, as in "of the".';
