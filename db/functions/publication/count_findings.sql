-- A finding counts once, however many of the program's or agency's awards it concerns.
create or replace function publication.count_findings(report_ids text[], program text default null)
returns table (
  report_id text,
  findings bigint,
  on_program bigint,
  material_weaknesses bigint,
  significant_deficiencies bigint,
  repeat_findings bigint,
  questioned_costs bigint
)
language sql stable security invoker set search_path = ''
as $$
  select
    findings.report_id,
    count(*),
    count(*) filter (where of_program.is_concerned),
    count(*) filter (where of_program.is_concerned and findings.is_material_weakness = 'Y'),
    count(*) filter (where of_program.is_concerned and findings.is_significant_deficiency = 'Y'),
    count(*) filter (where of_program.is_concerned and findings.is_repeat_finding = 'Y'),
    count(*) filter (where of_program.is_concerned and findings.is_questioned_costs = 'Y')
  from disclosed.finding_summaries as findings
  cross join lateral (
    select
      program is null
      or exists (select from unnest(findings.alns) as number where number = program or starts_with(number, program || '.'))
  ) as of_program (is_concerned)
  where findings.report_id = any (report_ids)
  group by findings.report_id
$$;
comment on function publication.count_findings is
  'Returns, for each report that has public findings, how many findings it has, and how many of these concern a program or, for its first two digits, an agency. All other counts include only the latter, or without a program all findings.';
