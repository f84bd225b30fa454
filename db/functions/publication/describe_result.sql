-- All pages judge from this whether a report is clean, besides its findings.
create or replace function publication.describe_result(asked_report_id text)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_build_object(
    'gaap_results', general.gaap_results,
    'sp_framework_opinions', general.sp_framework_opinions,
    'is_internal_control_material_weakness_disclosed', general.is_internal_control_material_weakness_disclosed,
    'is_internal_control_deficiency_disclosed', general.is_internal_control_deficiency_disclosed,
    'is_material_noncompliance_disclosed', general.is_material_noncompliance_disclosed,
    'is_going_concern_included', general.is_going_concern_included,
    -- Programs whose requirements the auditee did not meet, by the letter of the auditor's opinion.
    'modified_programs', coalesce(
      (select modified.programs from publication.count_modified_programs(array[asked_report_id]) as modified), '{}'
    )
  )
  from disclosed.general
  where general.report_id = asked_report_id
$$;
comment on function publication.describe_result is
  'Returns the opinions and disclosures of a public report, and how many of its programs have a qualified or adverse opinion on compliance, or a disclaimer. Returns null if the report is suppressed, superseded or unknown.';
