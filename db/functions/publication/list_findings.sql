-- Findings of a report, 20 at a time in the order of their numbers. Texts that the files split over rows are joined. Together they have
-- about 100,000 characters, because some reports have megabytes of them; the texts of later findings are null then.
create or replace function publication.list_findings(asked_report_id text, skipped integer)
returns jsonb
language sql stable security invoker set search_path = ''
as $$
  with shown as materialized (
    select finding_summaries.*
    from disclosed.finding_summaries
    where finding_summaries.report_id = asked_report_id
    order by finding_summaries.reference_number
    limit 20 offset skipped
  ), texts as materialized (
    select
      parts.finding_ref_number,
      left(string_agg(parts.finding_text, '' order by parts.row_number), 50000) as text,
      bool_or(parts.contains_chart_or_table = 'Y') as has_chart
    from disclosed.findings_text as parts
    where parts.report_id = asked_report_id and parts.finding_ref_number in (select shown.reference_number from shown)
    group by parts.finding_ref_number
  ), plans as materialized (
    select
      parts.finding_ref_number,
      left(string_agg(parts.planned_action, '' order by parts.row_number), 50000) as text,
      bool_or(parts.contains_chart_or_table = 'Y') as has_chart
    from disclosed.corrective_action_plans as parts
    where parts.report_id = asked_report_id and parts.finding_ref_number in (select shown.reference_number from shown)
    group by parts.finding_ref_number
  ), programs as materialized (
    select
      findings.reference_number,
      coalesce(nullif(awards.federal_agency_prefix, '') || '.' || nullif(awards.federal_award_extension, ''), '') as aln,
      min(awards.federal_program_name) as federal_program_name,
      count(*) as awards,
      sum(awards.amount_expended) as amount_expended
    from disclosed.findings
    join disclosed.federal_awards as awards on awards.report_id = findings.report_id
      and awards.award_reference = findings.award_reference
    where findings.report_id = asked_report_id and findings.reference_number in (select shown.reference_number from shown)
    group by 1, 2
  ), measured as (
    select
      shown.*,
      texts.text as finding_text,
      plans.text as planned_action,
      coalesce(texts.has_chart, false) or coalesce(plans.has_chart, false) as has_chart,
      coalesce(sum(coalesce(length(texts.text), 0) + coalesce(length(plans.text), 0)) over (
        order by shown.reference_number rows between unbounded preceding and 1 preceding
      ), 0) as characters_before
    from shown
    left join texts on texts.finding_ref_number = shown.reference_number
    left join plans on plans.finding_ref_number = shown.reference_number
  )
  select coalesce(
    jsonb_agg(
      to_jsonb(measured) - '{characters_before,text_words,plan_words,finding_text,planned_action}'::text[]
      || jsonb_build_object(
        'has_room', measured.characters_before < 100000,
        'finding_text', case when measured.characters_before < 100000 then measured.finding_text end,
        'planned_action', case when measured.characters_before < 100000 then measured.planned_action end,
        'programs', (
          select coalesce(jsonb_agg(to_jsonb(listed) - 'reference_number' order by listed.amount_expended desc nulls last, listed.aln), '[]')
          from (
            select * from programs
            where programs.reference_number is not distinct from measured.reference_number
            order by programs.amount_expended desc nulls last, programs.aln
            limit 10
          ) as listed
        )
      )
      order by measured.reference_number
    ),
    '[]'
  )
  from measured
$$;
comment on function publication.list_findings is
  'Returns up to 20 findings of a public report in the order of their numbers: each once, with its programs, its whole text and its plan.';
