-- Up to 1,000 matches are sorted: first those with all_words in the name, then those whose auditor has exactly this name, then the newest.
-- If there are more, PostgreSQL usually reads the newest from the index of their dates. Reports of one year are together in this index,
-- which PostgreSQL does not know: it would read all later years first. For searches with a year, "+ 0" keeps it from using the index. If
-- the criteria name an agency or a city, matches already has the newest reports.
create or replace function publication.list_matches(criteria jsonb, matches text[], skipped integer)
returns jsonb
language plpgsql stable security invoker set search_path = ''
as $$
declare
  of_program constant text := concat_ws('.', criteria ->> 'agency', criteria ->> 'program');
  shown text[];
  rows jsonb;
begin
  if cardinality(matches) > 1000 and not criteria ?| array['agency', 'city'] then
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
        case when criteria ? 'auditor' then
          publication.simplify_name(general.auditor_firm_name) = publication.simplify_name(criteria ->> 'auditor')
        end desc nulls last,
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
        'auditee_uei', general.auditee_uei,
        'auditee_ein', general.auditee_ein,
        'auditee_city', general.auditee_city,
        'auditee_state', general.auditee_state,
        'audit_year', general.audit_year,
        'fy_end_date', general.fy_end_date,
        'auditor_firm_name', general.auditor_firm_name,
        'auditor_ein', general.auditor_ein,
        'total_amount_expended', general.total_amount_expended,
        'fac_accepted_date', general.fac_accepted_date,
        -- Of the agency or program that is searched for.
        'amount_expended', (
          select sum(awards.amount_expended)
          from disclosed.federal_awards as awards
          where awards.report_id = general.report_id and awards.federal_agency_prefix = criteria ->> 'agency'
            and awards.federal_award_extension = coalesce(criteria ->> 'program', awards.federal_award_extension)
        ),
        'findings_on_program', case when criteria ? 'agency' then coalesce(counted.on_program, 0) end
      ) || described.counts || described.result
      order by place
    ),
    '[]'
  )
  into rows
  from unnest(shown) with ordinality as listed (report_id, place)
  join disclosed.general on general.report_id = listed.report_id
  join publication.describe_results(shown) as described on described.report_id = listed.report_id
  left join publication.count_findings(case when criteria ? 'agency' then shown end, of_program) as counted
    on counted.report_id = listed.report_id;
  return rows;
end
$$;
comment on function publication.list_matches is
  'Returns up to 100 of the reports that match, and what the pages show of each.';
