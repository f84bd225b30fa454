-- The pages' search also finds reports by their additional UEIs and EINs, and programs by words of their names. If it finds
-- nothing, it suggests names that are spelled like the search.
-- Lock level: none.

-- The IDs come from a subquery, because PostgreSQL would read all reports for "or".
create or replace function publication.write_search_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(string_agg(listed.condition, ' and '), 'false')
  from (
    values
      ('report_ids', 'general.report_id = any (array(select jsonb_array_elements_text($1 -> ''report_ids'')))'),
      (
        'uei',
        'general.report_id = any (array('
        'select named.report_id from disclosed.general as named where named.auditee_uei = $1 ->> ''uei'' union all '
        'select named.report_id from disclosed.additional_ueis as named where named.additional_uei = $1 ->> ''uei''))'
      ),
      (
        'ein',
        'general.report_id = any (array('
        'select named.report_id from disclosed.general as named where named.auditee_ein = $1 ->> ''ein'' union all '
        'select named.report_id from disclosed.additional_eins as named where named.additional_ein = $1 ->> ''ein''))'
      ),
      ('auditor_ein', 'general.auditor_ein = $1 ->> ''auditor_ein'''),
      ('state', 'general.auditee_state = $1 ->> ''state'''),
      ('year', 'general.audit_year = $1 ->> ''year'''),
      ('name', 'extensions.name_words(general.auditee_name) @@ extensions.name_query($1 ->> ''name'')'),
      (
        'name_beginnings',
        'extensions.name_words(general.auditee_name) @@ extensions.name_beginnings_query($1 ->> ''name_beginnings'')'
      ),
      ('auditor', 'extensions.name_words(general.auditor_firm_name) @@ extensions.name_query($1 ->> ''auditor'')'),
      (
        'agency',
        'exists (select from disclosed.federal_awards as awards where awards.report_id = general.report_id'
        ' and awards.federal_agency_prefix = $1 ->> ''agency'''
        || case when criteria ? 'program' then ' and awards.federal_award_extension = $1 ->> ''program''' else '' end || ')'
      )
  ) as listed (criterion, condition)
  where criteria ? listed.criterion
$$;

-- It reads only totals of public rows. Data sets that an older version built have no names.
create function publication.search_programs(written text)
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
begin
  if not exists (
    select from pg_catalog.pg_attribute
    where pg_attribute.attrelid = to_regclass('disclosed.totals_by_program') and pg_attribute.attname = 'names'
  ) then
    return '[]';
  end if;
  return (
    select coalesce(jsonb_agg(to_jsonb(listed)), '[]')
    from (
      select totals_by_program.aln, totals_by_program.federal_program_name, sum(totals_by_program.awards) as awards
      from disclosed.totals_by_program
      -- A program's names have words that begin with each of these.
      where totals_by_program.names ~* all (array(
        select '\m' || word from regexp_split_to_table(extensions.split_name(written), ' +') as word
      ))
        and totals_by_program.aln ~ '^[0-9]{2}[.][A-Z0-9]{1,6}$'
      group by totals_by_program.aln, totals_by_program.federal_program_name
      order by sum(totals_by_program.awards) desc, totals_by_program.aln
      limit 5
    ) as listed
  );
end
$$;
comment on function publication.search_programs is
  'Returns the five programs with the most awards whose names in the awards have all these words: their numbers, most frequent names and awards.';
revoke execute on function publication.search_programs from public;
grant execute on function publication.search_programs to report_service, site;

-- Names whose words begin with the same two or three letters are compared, at most 3,000 of them. With 400,000 reports, that
-- takes up to 50 ms of CPU time; comparing all names by their index of trigrams takes up to 500 ms.
create function publication.suggest_names(written text)
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
revoke execute on function publication.suggest_names from public;
grant execute on function publication.suggest_names to report_service, site;
