-- Describing many reports together takes a fraction of the time of a call for each.
create or replace function publication.describe_results(report_ids text[])
returns table (report_id text, result jsonb, counts jsonb)
language sql stable security invoker set search_path = ''
as $$
  select
    general.report_id,
    jsonb_build_object(
      'gaap_results', general.gaap_results,
      'sp_framework_opinions', general.sp_framework_opinions,
      'disclosed', publication.list_disclosures(
        general.is_internal_control_material_weakness_disclosed,
        general.is_internal_control_deficiency_disclosed,
        general.is_material_noncompliance_disclosed,
        general.is_going_concern_included
      ),
      -- Programs whose requirements the auditee did not meet, by the letter of the auditor's opinion.
      'modified_programs', coalesce(modified.programs, '{}')
    ),
    jsonb_build_object(
      'findings', coalesce(counted.findings, 0),
      'material_weaknesses', coalesce(counted.material_weaknesses, 0),
      'significant_deficiencies', coalesce(counted.significant_deficiencies, 0),
      'repeat_findings', coalesce(counted.repeat_findings, 0),
      'questioned_costs', coalesce(counted.questioned_costs, 0)
    )
  from disclosed.general
  left join publication.count_modified_programs(report_ids) as modified on modified.report_id = general.report_id
  left join publication.count_findings(report_ids) as counted on counted.report_id = general.report_id
  where general.report_id = any (report_ids)
$$;
comment on function publication.describe_results is
  'Returns, for each report that is public: its opinions and disclosures, how many of its programs have a qualified or adverse opinion on compliance, or a disclaimer; and how many findings it has, and how many of them have each flag. A finding counts once.';
