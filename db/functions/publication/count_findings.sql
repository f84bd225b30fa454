create or replace function publication.count_findings(asked_report_id text, aln text default null)
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
  where finding_summaries.report_id = asked_report_id and (
    aln is null
    or exists (select from unnest(finding_summaries.alns) as number where number = aln or starts_with(number, aln || '.'))
  )
$$;
comment on function publication.count_findings is
  'Returns how many findings a public report has (that concern a program or agency), and how many of them have each flag. A finding counts once.';
