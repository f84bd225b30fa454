create or replace function publication.count_findings(asked_report_id text)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  select jsonb_build_object(
    'findings', count(*),
    'material_weaknesses', count(*) filter (where finding_summaries.is_material_weakness = 'Y'),
    'significant_deficiencies', count(*) filter (where finding_summaries.is_significant_deficiency = 'Y'),
    'repeat_findings', count(*) filter (where finding_summaries.is_repeat_finding = 'Y'),
    'questioned_costs', count(*) filter (where finding_summaries.is_questioned_costs = 'Y')
  )
  from disclosed.finding_summaries
  where finding_summaries.report_id = asked_report_id
$$;
comment on function publication.count_findings is
  'Returns how many findings a public report has, and how many of them have each flag. A finding counts once.';
