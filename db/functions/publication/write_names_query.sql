-- Hardly any name has a misspelled word, so words that names have are looked up as they are. This finds few names. Looking up a beginning
-- takes ten times as long as a whole word, because a third of all names have words that begin with "co". So at most two words are looked up
-- by their beginnings. If names have each of the words, but no name has all of them, one was misspelled as another word.
create or replace function publication.write_names_query(words text[], known boolean[])
returns tsquery
language sql stable strict security invoker set search_path = ''
as $$
  with listed as (
    select
      asked.place,
      asked.is_known,
      count(*) filter (where not asked.is_known) over (order by asked.place) as unknown,
      quote_literal(asked.word) as whole,
      beginnings.query as beginnings
    from unnest(words, known) with ordinality as asked (word, is_known, place)
    cross join lateral (
      -- Alone, a beginning of two letters would find too many names.
      select greatest(2, least(case when false = any (known) and cardinality(words) > 1 then 2 else 3 end, length(asked.word) / 2))
    ) as beginning (length)
    cross join lateral (
      select format('(%s)', string_agg(distinct quote_literal("left"(spelling, beginning.length)) || ':*', ' | '))
      from publication.list_word_spellings(asked.word, beginning.length) as spelling
    ) as beginnings (query)
  )
  select case
    when false = any (known) then (
      select string_agg(case when listed.is_known then listed.whole else listed.beginnings end, ' & ' order by listed.place)
      from listed
      where listed.is_known or listed.unknown <= 2
    )
    else (
      select string_agg(concat_ws(' & ', misspelled.beginnings, others.query), ' | ')
      from listed as misspelled
      cross join lateral (
        select string_agg(listed.whole, ' & ') from listed where listed.place <> misspelled.place
      ) as others (query)
    )
  end::tsquery
$$;
comment on function publication.write_names_query is
  'Returns a query for names that have the known words, and words that begin with the same two or three letters as the first two unknown ones, or would if two neighboring letters were swapped. If all words are known, one of them may differ in this way.';
