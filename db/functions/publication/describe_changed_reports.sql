-- Only of reports that are public now. A record of changes also has reports that were suppressed since.
create or replace function publication.describe_changed_reports(ids text[], changed text[], parts text[])
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(
    jsonb_object_agg(
      general.report_id,
      jsonb_strip_nulls(jsonb_build_object(
        'auditee_name', general.auditee_name,
        'auditee_uei', general.auditee_uei,
        'audit_year', general.audit_year,
        'findings', (select count(*) from disclosed.finding_summaries as findings where findings.report_id = general.report_id),
        'replaces', (select resubmission.previous_report_id from disclosed.resubmission where resubmission.report_id = general.report_id),
        'parts', string_to_array(parts[array_position(changed, general.report_id)], ',')
      ))
    ),
    '{}'
  )
  from disclosed.general
  where general.report_id = any (ids)
$$;
comment on function publication.describe_changed_reports is
  'Returns what the pages say of reports that a publication added or changed, by report ID: the auditee''s name and UEI, how many findings the report has now, which public report it replaces, and which parts of it changed.';
