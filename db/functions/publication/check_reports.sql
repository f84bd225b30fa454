-- The pages' check of a list. It reads only the public tables, so a suppressed report is like one that does not exist: its UEI and
-- EIN find nothing, at the cost of finding nothing. A list may have 5,000 reports to show, so they are counted together.
create or replace function publication.check_reports(
  ids text[], years text[] default null, aln text default null, compared text[] default null
)
returns table (newest json, older json)
language plpgsql stable security definer
set search_path = ''
as $$
begin
  return query
    with listed as materialized (
      select distinct on (found.id, found.report_id)
        found.id,
        found.report_id,
        found.is_own,
        general.audit_year,
        general.fac_accepted_date,
        general.resubmission_version,
        publication.decision_due(general.fac_accepted_date) as due,
        years is null or general.audit_year = any (years) or (found.id = found.report_id and compared is null) as is_asked
      from publication.list_reports_of(ids) as found
      join disclosed.general on general.report_id = found.report_id
      order by found.id, found.report_id, found.is_own desc
    ), shown as (
      select
        listed.*,
        -- A report may have no audit year.
        coalesce(listed.is_asked and (compared is null or listed.audit_year = any (compared)), false) as is_shown
      from listed
    ), ranked as (
      select
        shown.*,
        bool_or(shown.is_shown) over (partition by shown.id) as has_shown,
        count(*) over (partition by shown.id) as reports,
        row_number() over (
          partition by shown.id
          order by
            shown.is_shown desc, shown.audit_year desc nulls last, shown.is_own desc, shown.fac_accepted_date desc nulls last,
            shown.report_id desc
        ) as place
      from shown
    ), chosen as materialized (
      -- An auditee without a report to show still has a name.
      select distinct on (ranked.id, grouped.audit_year) ranked.*
      from ranked
      cross join lateral (select case when compared is not null and ranked.is_shown then ranked.audit_year end) as grouped (audit_year)
      where ranked.is_shown or not ranked.has_shown
      order by ranked.id, grouped.audit_year, ranked.place
    ), counted as materialized (
      select * from publication.count_findings(array(select distinct listed.report_id from listed), aln)
    ), decisions as materialized (
      select
        listed.id,
        jsonb_agg(
          jsonb_build_object(
            'report_id', listed.report_id,
            'audit_year', listed.audit_year,
            'fac_accepted_date', listed.fac_accepted_date,
            'resubmission_version', listed.resubmission_version,
            'due', listed.due,
            'findings', counted.on_program
          )
          order by listed.due nulls last, listed.report_id
        ) as reports
      from listed
      join counted on counted.report_id = listed.report_id
      where listed.is_asked and counted.on_program > 0
      group by listed.id
    ), filed as materialized (
      select listed.id, jsonb_agg(distinct listed.audit_year order by listed.audit_year desc nulls last) as years from listed group by listed.id
    ), answers as materialized (
      select
        chosen.id,
        chosen.place,
        chosen.is_own,
        chosen.is_shown,
        chosen.reports,
        filed.years as filed,
        general.report_id,
        general.auditee_name,
        general.auditee_uei,
        general.auditee_ein,
        general.auditee_city,
        general.auditee_state,
        general.audit_year,
        general.fac_accepted_date,
        general.resubmission_version,
        general.gaap_results,
        general.sp_framework_opinions,
        coalesce(modified.programs, '{}') as modified_programs,
        publication.list_disclosures(
          general.is_internal_control_material_weakness_disclosed,
          general.is_internal_control_deficiency_disclosed,
          general.is_material_noncompliance_disclosed,
          general.is_going_concern_included
        ) as disclosed,
        coalesce(counted.findings, 0) as findings,
        case when aln is not null then coalesce(counted.on_program, 0) end as findings_on_aln,
        coalesce(counted.material_weaknesses, 0) as material_weaknesses,
        coalesce(counted.repeat_findings, 0) as repeat_findings,
        coalesce(counted.questioned_costs, 0) as questioned_costs,
        coalesce(counted.on_program, 0) > 0 as needs_decision,
        case when counted.on_program > 0 then chosen.due end as management_decision_due,
        coalesce(decisions.reports, '[]') as decisions
      from chosen
      join disclosed.general on general.report_id = chosen.report_id
      join filed on filed.id = chosen.id
      left join counted on counted.report_id = chosen.report_id
      left join decisions on decisions.id = chosen.id
      left join publication.count_modified_programs(array(select chosen.report_id from chosen)) as modified
        on modified.report_id = chosen.report_id
    )
    select
      (array_agg(row_to_json(answers)) filter (where answers.place = 1))[1],
      coalesce(
        json_agg(
          json_build_object(
            'report_id', answers.report_id,
            'audit_year', answers.audit_year,
            'gaap_results', answers.gaap_results,
            'sp_framework_opinions', answers.sp_framework_opinions,
            'modified_programs', answers.modified_programs,
            'disclosed', answers.disclosed,
            'findings', answers.findings,
            'findings_on_aln', answers.findings_on_aln,
            'repeat_findings', answers.repeat_findings
          )
          order by answers.place
        ) filter (where answers.place > 1),
        '[]'
      )
    from answers
    group by answers.id;
end
$$;
comment on function publication.check_reports is
  'Returns, for each of up to 1,000 UEIs, EINs and report IDs that has a public report, the newest report of the years (or of all): its opinions, how many findings it has, and how many of these concern the program or agency. All other counts include only the latter. If years are compared, "older" has what is compared of the newest report of each of the other years. For an ID with no such report, it returns the newest other one, with "is_shown": false. "decisions" lists the reports of the years on whose findings a management decision is due, reports without an accepted date last. "reports" is the number of all reports found, and "filed" has their years.';
grant execute on function publication.check_reports to site;
