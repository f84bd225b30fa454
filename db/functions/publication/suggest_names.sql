-- Names whose words begin with the same two or three letters are compared, at most 3,000 of them. With 400,000 reports, that
-- takes up to 50 ms of CPU time; comparing all names by their index of trigrams takes up to 500 ms.
create or replace function publication.suggest_names(written text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(ranked.auditee_name), '[]')
    from (
      select compared.auditee_name
      from (
        select general.auditee_name, extensions.unaccent(left(general.auditee_name, 200)) as spelling
        from disclosed.general
        where extensions.name_words(general.auditee_name) @@ (
          select string_agg(
            quote_literal(left(words.lexeme, greatest(2, least(3, length(words.lexeme) / 2)))) || ':*', ' & '
          )::tsquery
          from unnest(to_tsvector('extensions.names', extensions.split_name(written))) as words
          where length(words.lexeme) > 2
        )
        limit 3000
      ) as compared
      where extensions.word_similarity(extensions.unaccent(written), compared.spelling) > 0.5
      group by compared.auditee_name, compared.spelling
      order by
        extensions.word_similarity(extensions.unaccent(written), compared.spelling) desc,
        extensions.similarity(extensions.unaccent(written), compared.spelling) desc,
        compared.auditee_name
      limit 5
    ) as ranked
  );
end
$$;
comment on function publication.suggest_names is
  'Returns up to five names of public reports'' auditees that are spelled like a text, the most similar first.';
grant execute on function publication.suggest_names to site;
