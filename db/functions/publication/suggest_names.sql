-- Compares at most 3,000 names whose words begin like those of the text. If none is similar, does the same with names and cities, and then
-- with names that have all but one of these words. Reads as many names without each of the words, so that a common word does not crowd
-- out a rare one. With 400,000 reports, this takes up to 230 ms of CPU time; comparing all names by their trigram index takes up to 500 ms.
-- Auditors come last. Only the first two words are looked for, because most firms are "… and Associates" or the like. A few firms sign most
-- reports, so each name is compared once.
--
-- The index finds names of all states. If states are given, up to 20,000 names are read, and only those in one of the states are compared.
create or replace function publication.suggest_names(written text, in_states text default '', kind text default '')
returns jsonb
language plpgsql stable strict security definer set search_path = ''
as $$
declare
  spelled constant text := extensions.unaccent("left"(written, 200));
  beginnings constant text[] := publication.list_name_beginnings("left"(written, 200));
  most constant integer := case in_states when '' then 3000 else 20000 end;
  states constant text[] := string_to_array(in_states, ',');
  pass text;
  queries tsquery[];
  found jsonb := '[]';
begin
  foreach pass in array array['names', 'names and cities', 'names without a word', 'auditors'] loop
    continue when kind <> '' and (kind = 'auditor') <> (pass = 'auditors');
    continue when cardinality(beginnings) < case pass when 'names without a word' then 2 else 1 end;
    queries := case
      when pass = 'auditors' then array[array_to_string(beginnings[:2], ' & ')::tsquery]
      when pass <> 'names without a word' then array[array_to_string(beginnings, ' & ')::tsquery]
      else array(
        select array_to_string(beginnings[:place - 1] || beginnings[place + 1:], ' & ')::tsquery
        from generate_series(1, cardinality(beginnings)) as place
      )
    end;
    select coalesce(jsonb_agg(ranked.name), '[]')
    into found
    from (
      select mode() within group (order by compared.name) as name
      from unnest(queries) as query
      cross join lateral (
        (
          select
            general.auditee_name as name,
            case when in_states = '' or general.auditee_state = any (states) then extensions.unaccent("left"(general.auditee_name, 200)) end as spelling
          from disclosed.general
          where pass in ('names', 'names without a word') and extensions.name_words(general.auditee_name) @@ query
          limit most / cardinality(queries)
        )
        union all
        (
          select
            general.auditee_name,
            case when in_states = '' or general.auditee_state = any (states) then
              extensions.unaccent("left"(general.auditee_name, 200) || ', ' || "left"(general.auditee_city, 100))
            end
          from disclosed.general
          where pass = 'names and cities' and extensions.name_words(general.auditee_name || ', ' || general.auditee_city) @@ query
          limit most
        )
        union all
        select auditors.name, extensions.unaccent("left"(auditors.name, 200))
        from (
          select general.auditor_firm_name as name, general.auditee_state
          from disclosed.general
          where pass = 'auditors' and extensions.name_words(general.auditor_firm_name) @@ query
          limit most
        ) as auditors
        where in_states = '' or auditors.auditee_state = any (states)
        group by auditors.name
      ) as compared
      cross join lateral extensions.word_similarity(spelled, compared.spelling) as similarity
      -- Swapped letters change three of a word's five to seven trigrams.
      where similarity > case when pass in ('names without a word', 'auditors') then 0.6 else 0.4 end
      -- Names that differ only in case, accents or punctuation are the same.
      group by lower(extensions.split_name(extensions.shorten_name(extensions.unaccent("left"(compared.name, 200)))))
      order by max(similarity) desc, max(extensions.similarity(spelled, compared.spelling)) desc, min(compared.name)
      limit 5
    ) as ranked;
    exit when found <> '[]';
  end loop;
  return found;
end
$$;
comment on function publication.suggest_names is
  'Returns up to five names of auditees of public reports that, alone or with their cities, are spelled like the text, most similar first. If there is none, returns names of auditors. If states are given, separated by commas, it returns only names of auditees in these states and of their auditors. If a kind is given, "auditee" or "auditor", it returns only names of this kind. Names that differ only in case, accents or punctuation are listed once.';
grant execute on function publication.suggest_names to site;
