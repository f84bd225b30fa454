-- Terms of search (disclosed.search_terms) are compared as a whole. No other term has a space.
create or replace function extensions.city_term(city text)
returns text
language sql stable strict parallel safe security invoker
return 'city ' || pg_catalog.lower(extensions.unaccent(extensions.split_name(extensions.shorten_name(
  pg_catalog.regexp_replace(pg_catalog."left"(city, 200), '\m(saint|st)(\s+|[.]\s*)', 'st ', 'gi')
))));
comment on function extensions.city_term is
  'Returns the term by which the pages'' search finds reports of a city, without regard to case, accents and punctuation. "St." and "Saint" are the same word.';
grant execute on function extensions.city_term to publisher;
