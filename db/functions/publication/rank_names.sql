-- A name that lacks one of the words is another auditee's, however similar the rest is: "Orchard Affordable Housing" is not
-- "Grenite Affordable Housing". So each word is compared with the most similar word of the name. One wrong letter leaves at least 0.3 of a
-- word's trigrams, or 0.25 if it has four letters or fewer. Swapped letters leave less, so they are swapped back. This takes ten times as
-- long as comparing whole names, so only the 50 names that are most similar as a whole are compared.
create or replace function publication.rank_names(written text, words text[], names text[], spellings text[])
returns jsonb
language sql stable strict security invoker set search_path = ''
as $$
  with candidates as materialized (
    select listed.name, listed.spelling
    from unnest(names, spellings) as listed (name, spelling)
    order by extensions.word_similarity(written, listed.spelling) desc, listed.name
    limit 50
  ), typed as materialized (
    select listed.word, spelling
    from unnest(words) as listed (word)
    cross join lateral publication.list_word_spellings(listed.word, length(listed.word)) as spelling
  ), compared as (
    select
      candidates.name,
      candidates.spelling,
      typed.word,
      max(extensions.similarity(typed.spelling, own.word)) as similarity
    from candidates
    cross join lateral string_to_table(extensions.split_name(extensions.shorten_name(candidates.spelling)), ' ') as own (word)
    cross join typed
    group by candidates.name, candidates.spelling, typed.word
  ), matching as (
    select compared.name, compared.spelling, avg(compared.similarity) as similarity
    from compared
    group by compared.name, compared.spelling
    having bool_and(compared.similarity >= case when length(compared.word) < 5 then 0.25 else 0.3 end)
  ), ranked as (
    -- Names that differ only in case, accents or punctuation are the same.
    select
      mode() within group (order by matching.name) as name,
      max(matching.similarity) as similarity,
      max(extensions.similarity(written, matching.spelling)) as whole_similarity
    from matching
    group by publication.simplify_name(matching.name)
    order by similarity desc, whole_similarity desc, name
    limit 5
  )
  select coalesce(jsonb_agg(ranked.name order by ranked.similarity desc, ranked.whole_similarity desc, ranked.name), '[]') from ranked
$$;
comment on function publication.rank_names is
  'Returns up to five of the names that have a word similar to each of these words, the most similar first. It compares the spellings that belong to the names.';
