create or replace function publication.write_words_condition(alternatives integer[] default null)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select '(' || string_agg(format('findings.%I @@ publication.words_query($1 ->> ''words'', %L)', words.name, alternatives), ' or ') || ')'
  from unnest(array['text_words', 'plan_words']) as words (name)
$$;
comment on function publication.write_words_condition is
  'Returns the condition that a finding has a text or plan with the words of a search, or of some of its alternatives, as SQL that refers to the criteria as $1.';
