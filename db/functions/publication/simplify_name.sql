create or replace function publication.simplify_name(written text)
returns text
language sql stable strict security invoker set search_path = ''
return lower(extensions.unaccent(extensions.split_name(extensions.shorten_name("left"(written, 200)))));
comment on function publication.simplify_name is
  'Returns the first 200 characters of a name without case, accents and punctuation, for comparisons.';
