-- Uses only four words, because the beginning of a common one, such as "cou", is in a fifth of all names. Leaves out the words that
-- extensions.name_words() adds to every name.
create or replace function publication.list_name_beginnings(written text)
returns text[]
language sql stable strict security invoker set search_path = ''
as $$
  select array(
    select (
      select format('(%s)', string_agg(distinct quote_literal("left"(spellings.word, beginning.length)) || ':*', ' | '))
      from (
        select words.lexeme as word
        union all
        select overlay(words.lexeme placing reverse(substr(words.lexeme, first, 2)) from first)
        from generate_series(1, beginning.length) as first
      ) as spellings
    )
    from unnest(to_tsvector('extensions.names', extensions.split_name(written))) as words
    cross join lateral (select greatest(2, least(3, length(words.lexeme) / 2))) as beginning (length)
    where length(words.lexeme) > 2 and words.lexeme <> all (tsvector_to_array(extensions.name_words('')))
    order by words.positions[1]
    limit 4
  )
$$;
comment on function publication.list_name_beginnings is
  'Returns, for each of the first four words in a name that have three or more letters, a query for words that begin with the same two or three letters, or would if two neighboring letters were swapped.';
