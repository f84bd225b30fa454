-- Compares at most 3,000 names whose words begin with the same two or three letters. If there are none, does the same with names and
-- cities. With 400,000 reports, this takes up to 50 ms of CPU time; comparing all names by their trigram index takes up to 500 ms.
create or replace function publication.suggest_names(written text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  spelled constant text := extensions.unaccent("left"(written, 200));
  beginnings constant tsquery := (
    select string_agg(
      quote_literal("left"(words.lexeme, greatest(2, least(3, length(words.lexeme) / 2)))) || ':*', ' & '
    )::tsquery
    from unnest(to_tsvector('extensions.names', extensions.split_name(written))) as words
    where length(words.lexeme) > 2
  );
  with_city boolean;
  found jsonb;
begin
  foreach with_city in array array[false, true] loop
    select coalesce(jsonb_agg(ranked.auditee_name), '[]')
    into found
    from (
      select compared.auditee_name
      from (
        (
          select general.auditee_name, extensions.unaccent("left"(general.auditee_name, 200)) as spelling
          from disclosed.general
          where not with_city and extensions.name_words(general.auditee_name) @@ beginnings
          limit 3000
        )
        union all
        (
          select
            general.auditee_name,
            extensions.unaccent("left"(general.auditee_name, 200) || ', ' || "left"(general.auditee_city, 100))
          from disclosed.general
          where with_city and extensions.name_words(general.auditee_name || ', ' || general.auditee_city) @@ beginnings
          limit 3000
        )
      ) as compared
      where extensions.word_similarity(spelled, compared.spelling) > 0.5
      group by compared.auditee_name
      order by
        max(extensions.word_similarity(spelled, compared.spelling)) desc,
        max(extensions.similarity(spelled, compared.spelling)) desc,
        compared.auditee_name
      limit 5
    ) as ranked;
    exit when found <> '[]';
  end loop;
  return found;
end
$$;
comment on function publication.suggest_names is
  'Returns up to five names of auditees of public reports that, alone or with their cities, are spelled like the text, most similar first.';
grant execute on function publication.suggest_names to site;
