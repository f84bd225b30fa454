-- Compares at most 3,000 names that have the words of the text, except one or two that may be spelled differently. If none is similar, does
-- the same with names and cities, then with names in which one word ends like a misspelled one, and last with auditors. For auditors,
-- only the first two words are compared, because most firms are "… and Associates" or the like. Each pass is planned anew, because the
-- best plan depends on how common the words are.
--
-- The indexes find names of all states. If states are given, up to 20,000 names are read, and only those in one of the states are compared.
create or replace function publication.suggest_names(written text, in_states text default '', kind text default '')
returns jsonb
language plpgsql stable strict security definer
set search_path = '' set plan_cache_mode = force_custom_plan
as $$
declare
  spelled constant text := extensions.unaccent("left"(written, 200));
  all_words constant text[] := publication.list_name_words("left"(written, 200));
  most constant integer := case in_states when '' then 3000 else 20000 end;
  states constant text[] := string_to_array(in_states, ',');
  pass text;
  words text[];
  known boolean[];
  query tsquery;
  misspelled text[];
  others text[];
  ending text;
  names text[];
  spellings text[];
  found jsonb := '[]';
begin
  foreach pass in array array['names', 'names and cities', 'names with an ending', 'names with another ending', 'auditors'] loop
    continue when all_words = '{}' or kind <> '' and (kind = 'auditor') <> (pass = 'auditors');
    -- The previous pass compared the names that have all of the words but one.
    continue when pass = 'names and cities' and true = all (known);
    if pass like 'names with an% ending' then
      -- The first letters of a misspelled word may be wrong. If another one is misspelled too, it is looked for by its beginning.
      misspelled := array(select listed.word from unnest(words, known) as listed (word, is_known) where not listed.is_known);
      ending := misspelled[case pass when 'names with an ending' then 1 else 2 end];
      continue when cardinality(misspelled) > 2 or ending is null or length(ending) < 4;
      others := array_remove(words, ending);
      query := case cardinality(misspelled)
        when 1 then nullif(array_to_string(array(select quote_literal(other) from unnest(others) as other), ' & '), '')::tsquery
        else publication.write_names_query(others, array(select other <> all (misspelled) from unnest(others) as other))
      end;
      ending := '%' || "right"(ending, greatest(3, length(ending) / 2)) || '%';
    else
      words := all_words[:case pass when 'auditors' then 2 else 4 end];
      known := array(
        -- Names and cities have all words of names.
        select pass = 'names and cities' and coalesce(known[listed.place], false) or publication.is_name_word(pass, listed.word)
        from unnest(words) with ordinality as listed (word, place)
        order by listed.place
      );
      query := publication.write_names_query(words, known);
    end if;
    with read as (
      (
        select general.auditee_name as name, null as city, general.auditee_state as state
        from disclosed.general
        where pass = 'names' and extensions.name_words(general.auditee_name) @@ query
        limit most
      )
      union all
      (
        select general.auditee_name, general.auditee_city, general.auditee_state
        from disclosed.general
        where pass = 'names and cities' and extensions.name_words(general.auditee_name || ', ' || general.auditee_city) @@ query
        limit most
      )
      union all
      (
        select general.auditee_name, null, general.auditee_state
        from disclosed.general
        where pass like 'names with an% ending' and general.auditee_name ilike ending
          and (query is null or extensions.name_words(general.auditee_name) @@ query)
        limit most
      )
      union all
      (
        select general.auditor_firm_name, null, general.auditee_state
        from disclosed.general
        where pass = 'auditors' and extensions.name_words(general.auditor_firm_name) @@ query
        limit most
      )
    ), candidates as (
      -- Most names are in several reports, so each is compared once.
      select
        read.name,
        extensions.unaccent(concat_ws(', ', "left"(read.name, 200), "left"(read.city, 100))) as spelling
      from read
      where in_states = '' or read.state = any (states)
      group by read.name, read.city
    )
    select array_agg(candidates.name), array_agg(candidates.spelling) into names, spellings from candidates;
    found := coalesce(
      publication.rank_names(spelled, case pass when 'auditors' then words else all_words end, names, spellings), '[]'
    );
    exit when found <> '[]';
  end loop;
  return found;
end
$$;
comment on function publication.suggest_names is
  'Returns up to five names of auditees of public reports that, alone or with their cities, have a word spelled like each distinctive word of the text, most similar first. If there is none, returns names of auditors. If states are given, separated by commas, it returns only names of auditees in these states and of their auditors. If a kind is given, "auditee" or "auditor", it returns only names of this kind. Names that differ only in case, accents or punctuation are listed once.';
grant execute on function publication.suggest_names to site;
