-- What the pages of a program, an agency and a state show. It reads only public rows.
create or replace function publication.describe_findings(criteria jsonb)
returns jsonb
language plpgsql stable security definer
set search_path = '' set work_mem = '32MB'
as $$
declare
  found jsonb;
begin
  execute format(
    $query$
      with grouped as materialized (
        select
          findings.auditee_uei,
          findings.auditee_state,
          findings.type_requirement,
          count(*) as findings,
          count(*) filter (where findings.is_material_weakness = 'Y') as material_weaknesses,
          count(*) filter (where findings.is_repeat_finding = 'Y') as repeat_findings,
          max(findings.fac_accepted_date) as newest
        from disclosed.finding_summaries as findings
        where %s
        group by findings.auditee_uei, findings.auditee_state, findings.type_requirement
      ), years as (
        select totals.audit_year, null::bigint as submissions, totals.awards, totals.amount_expended, totals.findings, totals.material_weaknesses
        from disclosed.totals_by_program as totals
        where totals.aln = $1 ->> 'aln' and not $1 ? 'state'
        union all
        select totals.audit_year, null, totals.awards, totals.amount_expended, totals.findings, totals.material_weaknesses
        from disclosed.totals_by_program_and_state as totals
        where totals.aln = $1 ->> 'aln' and totals.auditee_state = $1 ->> 'state'
        union all
        select totals.audit_year, totals.submissions, totals.awards, totals.amount_expended, totals.findings, totals.material_weaknesses
        from disclosed.totals_by_agency as totals
        where totals.federal_agency_prefix = $1 ->> 'agency'
        union all
        select totals.audit_year, totals.submissions, totals.awards, totals.amount_expended, totals.findings, totals.material_weaknesses
        from disclosed.totals_by_state as totals
        where totals.auditee_state = $1 ->> 'state' and not $1 ? 'aln'
      ), requirements as (
        select letters.letter, sum(alike.findings) as findings
        from (select grouped.type_requirement, sum(grouped.findings) as findings from grouped group by grouped.type_requirement) as alike
        cross join regexp_split_to_table(alike.type_requirement, '') as letters (letter)
        where letters.letter <> ''
        group by letters.letter
      ), states as (
        select totals.auditee_state, sum(totals.amount_expended) as amount_expended, sum(totals.findings) as findings
        from disclosed.totals_by_program_and_state as totals
        where totals.aln = $1 ->> 'aln' and totals.auditee_state <> ''
        group by totals.auditee_state
        union all
        select grouped.auditee_state, null, sum(grouped.findings)
        from grouped
        where not $1 ? 'aln' and grouped.auditee_state <> ''
        group by grouped.auditee_state
      ), auditees as (
        select
          grouped.auditee_uei,
          sum(grouped.findings) as findings,
          sum(grouped.material_weaknesses) as material_weaknesses,
          sum(grouped.repeat_findings) as repeat_findings,
          max(grouped.newest) as newest
        from grouped
        -- Reports from before 2022 may have no UEI.
        where grouped.auditee_uei not in ('', 'GSA_MIGRATION')
        group by grouped.auditee_uei
        order by sum(grouped.findings) desc, grouped.auditee_uei
        limit 10
      )
      select jsonb_build_object(
        'name', (
          select totals.federal_program_name from disclosed.totals_by_program as totals
          where totals.aln = $1 ->> 'aln' and totals.federal_program_name <> '' limit 1
        ),
        'related', publication.list_related_programs($1 ->> 'aln'),
        'years', (select coalesce(jsonb_agg(to_jsonb(years) order by years.audit_year), '[]') from years where years.audit_year <> ''),
        'programs', case when $1 ? 'agency' then publication.describe_program_years($1 ->> 'agency', null, 0, 10) end,
        'requirements', (
          select coalesce(jsonb_agg(to_jsonb(requirements) order by requirements.findings desc, requirements.letter), '[]') from requirements
        ),
        'without_requirement', (
          select coalesce(sum(grouped.findings), 0) from grouped where grouped.type_requirement is null or grouped.type_requirement = ''
        ),
        'states', (select coalesce(jsonb_agg(to_jsonb(states) order by states.findings desc, states.amount_expended desc, states.auditee_state), '[]') from states),
        'auditees', (
          select coalesce(jsonb_agg(
            to_jsonb(auditees) || to_jsonb(latest) order by auditees.findings desc, auditees.auditee_uei
          ), '[]')
          from auditees
          cross join lateral (
            select general.auditee_name, general.auditee_city, general.auditee_state
            from disclosed.general
            where general.auditee_uei = auditees.auditee_uei
            order by general.report_id desc
            limit 1
          ) as latest
        )
      )
    $query$, publication.write_finding_conditions(criteria)
  ) into found using criteria;
  return found;
end
$$;
comment on function publication.describe_findings is
  'Returns what public reports say of a program (aln), also in one state, of an agency or a state: totals by year, related programs, the programs of an agency with the most findings, findings by requirement (and how many state none) and by state (of a program with the amount expended), and the ten auditees with the most findings.';
grant execute on function publication.describe_findings to site;
