create or replace function publication.list_word_spellings(word text, swapped integer)
returns setof text
language sql immutable strict security invoker set search_path = ''
as $$
  select word
  union
  select overlay(word placing reverse(substr(word, first, 2)) from first)
  from generate_series(1, least(swapped, length(word) - 1)) as first
$$;
comment on function publication.list_word_spellings is
  'Returns a word, and each spelling in which one of its first letters is swapped with the next. "swapped" says how many first letters to swap.';
