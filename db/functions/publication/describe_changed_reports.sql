-- Only of reports that are public now. A record of changes also has reports that were suppressed since.
create or replace function publication.describe_changed_reports(change_number bigint, ids text[], changed text[], parts text[])
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select coalesce(
    jsonb_object_agg(
      general.report_id,
      described.result || described.counts || jsonb_strip_nulls(jsonb_build_object(
        'auditee_name', general.auditee_name,
        'auditee_uei', general.auditee_uei,
        'audit_year', general.audit_year,
        'fy_end_date', general.fy_end_date,
        'replaces', (select resubmission.previous_report_id from disclosed.resubmission where resubmission.report_id = general.report_id),
        'parts', string_to_array(parts[array_position(changed, general.report_id)], ',')
      )) || jsonb_build_object('values', coalesce(kept.changed_values, '{}'))
    ),
    '{}'
  )
  from disclosed.general
  join publication.describe_results(ids) as described on described.report_id = general.report_id
  left join publication.changed_values as kept on kept.number = change_number and kept.report_id = general.report_id
  where general.report_id = any (ids)
$$;
comment on function publication.describe_changed_reports is
  'Returns what the pages say of reports that a publication added or changed, by report ID: the auditee''s name and UEI, the fiscal year, what publication.describe_results() returns, which public report it replaces, which parts of it changed, and old and new values.';
