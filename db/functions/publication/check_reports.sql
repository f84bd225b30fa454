-- The pages' check of a list. It reads only the public tables, so a suppressed report is like one that does not exist: its UEI and
-- EIN find nothing, at the cost of finding nothing.
create or replace function publication.check_reports(ids text[], year text default null, aln text default null)
returns jsonb
language plpgsql stable security definer
set search_path = '' set max_parallel_workers_per_gather = 0 set jit = off
as $$
begin
  return (
    with listed as materialized (
      select distinct on (found.id, found.report_id)
        found.id,
        found.report_id,
        found.is_own,
        general.audit_year,
        general.fac_accepted_date,
        publication.decision_due(general.fac_accepted_date) as due
      from publication.list_reports_of(ids) as found
      join disclosed.general on general.report_id = found.report_id
      where year is null or general.audit_year = year or found.id = found.report_id
      order by found.id, found.report_id, found.is_own desc
    ), ranked as (
      select
        listed.*,
        count(*) over (partition by listed.id) as reports,
        row_number() over (
          partition by listed.id
          order by listed.audit_year desc nulls last, listed.is_own desc, listed.fac_accepted_date desc nulls last, listed.report_id desc
        ) as place
      from listed
    ), concerned as materialized (
      select findings.report_id, count(*) as findings
      from disclosed.finding_summaries as findings
      where findings.report_id in (select listed.report_id from listed)
        and (
          aln is null
          or exists (select from unnest(findings.alns) as number where number = aln or starts_with(number, aln || '.'))
        )
      group by findings.report_id
    ), decisions as materialized (
      select
        listed.id,
        jsonb_agg(
          jsonb_build_object(
            'report_id', listed.report_id, 'audit_year', listed.audit_year, 'due', listed.due, 'findings', concerned.findings
          )
          order by listed.due, listed.report_id
        ) as reports
      from listed
      join concerned on concerned.report_id = listed.report_id
      where listed.due is not null
      group by listed.id
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object(
          'id', ranked.id,
          'is_own', ranked.is_own,
          'reports', ranked.reports,
          'report_id', general.report_id,
          'auditee_name', general.auditee_name,
          'auditee_city', general.auditee_city,
          'auditee_state', general.auditee_state,
          'audit_year', general.audit_year,
          'fac_accepted_date', general.fac_accepted_date,
          'gaap_results', general.gaap_results,
          'sp_framework_opinions', general.sp_framework_opinions,
          'findings_on_aln', (on_aln.counts ->> 'findings')::bigint,
          'modified_programs', publication.list_modified_programs(general.report_id),
          'is_internal_control_material_weakness_disclosed', general.is_internal_control_material_weakness_disclosed,
          'is_internal_control_deficiency_disclosed', general.is_internal_control_deficiency_disclosed,
          'is_material_noncompliance_disclosed', general.is_material_noncompliance_disclosed,
          'is_going_concern_included', general.is_going_concern_included,
          'management_decision_due', case
            when (coalesce(on_aln.counts, counted.counts) ->> 'findings')::bigint > 0 then ranked.due
          end,
          'decisions', coalesce(decisions.reports, '[]')
        ) || counted.counts || coalesce(on_aln.counts - 'findings', '{}')
        order by ranked.id
      ),
      '[]'
    )
    from ranked
    join disclosed.general on general.report_id = ranked.report_id
    left join decisions on decisions.id = ranked.id
    cross join lateral publication.count_findings(ranked.report_id) as counted (counts)
    cross join lateral (
      select case when aln is not null then publication.count_findings(ranked.report_id, aln) end as counts
    ) as on_aln
    where ranked.place = 1
  );
end
$$;
comment on function publication.check_reports is
  'Returns, for each of up to 1,000 UEIs, EINs and report IDs that has a public report in the year (or at all), the newest report: its opinions, how many findings it has, and how many of these concern the program or agency. All other counts include only the latter. "decisions" lists when management decisions are due, also on older reports. "reports" is the number of all reports found.';
grant execute on function publication.check_reports to site;
