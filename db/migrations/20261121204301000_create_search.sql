-- The pages' search. It reads only the public tables, so a suppressed submission is like one that does not exist: it is neither
-- found nor counted, and takes no time.
-- Lock level: none.

-- The conditions of a search, as SQL. They refer to the criteria as $1, so no part of a search becomes SQL. A statement for
-- all criteria ("$1 ->> 'state' is null or …") could not use the indexes.
create function publication.write_search_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select coalesce(string_agg(listed.condition, ' and '), 'false')
  from (
    values
      ('report_ids', 'general.report_id = any (array(select jsonb_array_elements_text($1 -> ''report_ids'')))'),
      ('uei', 'general.auditee_uei = $1 ->> ''uei'''),
      ('ein', 'general.auditee_ein = $1 ->> ''ein'''),
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
comment on function publication.write_search_conditions is
  'Returns the conditions of a search as SQL that refers to the criteria as $1. Without known criteria, nothing matches.';
revoke execute on function publication.write_search_conditions from public;

-- Up to 1,000 matches are sorted: those with all_words in the name first, then the newest. If there are more, PostgreSQL usually
-- reads the newest from the index of their dates. Reports of one year are together in this index, which PostgreSQL does not know: it
-- would read all later years first. For searches with a year, "+ 0" keeps it from using the index.
create function publication.list_matches(criteria jsonb, matches text[], skipped integer)
returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  shown text[];
  rows jsonb;
begin
  if cardinality(matches) > 1000 then
    execute format(
      'select array(select general.report_id from disclosed.general where %s order by general.fac_accepted_date%s desc limit 100 offset $2)',
      publication.write_search_conditions(criteria), case when criteria ? 'year' then ' + 0' end
    ) into shown using criteria, skipped;
  else
    shown := array(
      select general.report_id
      from disclosed.general
      where general.report_id = any (matches)
      order by
        extensions.name_words(general.auditee_name) @@ extensions.name_query(criteria ->> 'all_words') desc nulls last,
        general.fac_accepted_date desc,
        general.report_id desc
      limit 100 offset skipped
    );
  end if;
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'report_id', general.report_id,
        'auditee_name', general.auditee_name,
        'auditee_city', general.auditee_city,
        'auditee_state', general.auditee_state,
        'audit_year', general.audit_year,
        'fy_end_date', general.fy_end_date,
        'auditor_firm_name', general.auditor_firm_name,
        'total_amount_expended', general.total_amount_expended,
        -- Of the agency or program that is searched for.
        'amount_expended', (
          select sum(awards.amount_expended)
          from disclosed.federal_awards as awards
          where awards.report_id = general.report_id and awards.federal_agency_prefix = criteria ->> 'agency'
            and awards.federal_award_extension = coalesce(criteria ->> 'program', awards.federal_award_extension)
        )
      )
      order by place
    ),
    '[]'
  )
  into rows
  from unnest(shown) with ordinality as listed (report_id, place)
  join disclosed.general on general.report_id = listed.report_id;
  return rows;
end
$$;
comment on function publication.list_matches is
  'Returns up to 100 of the reports that match, and what the pages show of each.';
revoke execute on function publication.list_matches from public;

create function publication.search_reports(readings jsonb, skipped integer default 0)
returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  criteria jsonb;
  matches text[];
  found_rows jsonb;
  totals jsonb := '[]';
  chosen integer;
begin
  for criteria in select reading from jsonb_array_elements(readings) as reading limit 10 loop
    matches := '{}';
    if chosen is null or not criteria ? 'name_beginnings' then
      execute format(
        'select array(select general.report_id from disclosed.general where %s limit 1001)',
        publication.write_search_conditions(criteria)
      ) into matches using criteria;
    end if;
    totals := totals || to_jsonb(cardinality(matches));
    if chosen is null and cardinality(matches) > 0 then
      chosen := jsonb_array_length(totals) - 1;
      found_rows := publication.list_matches(criteria, matches, least(greatest(skipped, 0), 900));
    end if;
  end loop;
  return jsonb_build_object('totals', totals, 'chosen', chosen, 'rows', coalesce(found_rows, '[]'));
end
$$;
comment on function publication.search_reports is
  'Searches the public reports. Each reading is one meaning of a search, as criteria that must all match. Returns how many reports match each of the first 10 readings (1001: more than 1,000), the index of the first reading that has matches, and up to 100 of its reports.';
revoke execute on function publication.search_reports from public;
grant execute on function publication.search_reports to report_service;
