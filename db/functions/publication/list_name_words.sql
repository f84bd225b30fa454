-- Leaves out the words that extensions.name_words() adds to every name, and legal forms, because people add or omit both.
create or replace function publication.list_name_words(written text)
returns text[]
language sql stable strict security invoker set search_path = ''
as $$
  select array(
    select words.lexeme
    from unnest(to_tsvector('extensions.names', extensions.split_name(extensions.shorten_name(written)))) as words
    where length(words.lexeme) > 2
      and words.lexeme <> all (tsvector_to_array(extensions.name_words('')))
      and words.lexeme <> all ('{inc,incorporated,llc,ltd,limited,corp,corporation,company,llp,pllc,cpa,cpas}')
    order by words.positions[1]
    limit 10
  )
$$;
comment on function publication.list_name_words is
  'Returns the first ten distinctive words of a name, each once: those with three or more letters that are neither small words nor legal forms.';
