-- Each public finding once, however many awards it concerns. Searches read the table from its first row, so the newest findings come first.
-- The words are those of whole texts, which the files may split across rows. If a row exceeds 2 kB, PostgreSQL stores its words out of line
-- (toast_tuple_target). The table takes 5 s for a million rows of findings, and its words take 0.6 s of CPU time for a thousand findings.
create table disclosed_next.finding_summaries with (toast_tuple_target = 256) as
select
  summaries.*,
  strip(extensions.text_words(texts.text)) as text_words,
  strip(extensions.text_words(plans.text)) as plan_words
from (
  select
    general.report_id,
    general.auditee_uei,
    general.audit_year,
    general.fac_accepted_date,
    findings.reference_number,
    general.auditee_state,
    general.entity_type,
    coalesce(array_agg(distinct numbers.aln) filter (where numbers.aln is not null), '{}') as alns,
    -- The letters of all rows, each once.
    (
      select string_agg(distinct letters.letter, '' order by letters.letter)
      from regexp_split_to_table(string_agg(findings.type_requirement, ''), '') as letters (letter)
    ) as type_requirement,
    max(findings.is_material_weakness) as is_material_weakness,
    max(findings.is_significant_deficiency) as is_significant_deficiency,
    max(findings.is_modified_opinion) as is_modified_opinion,
    max(findings.is_other_matters) as is_other_matters,
    max(findings.is_other_findings) as is_other_findings,
    max(findings.is_questioned_costs) as is_questioned_costs,
    max(findings.is_repeat_finding) as is_repeat_finding,
    string_agg(distinct findings.prior_finding_ref_numbers, ', ') filter (where findings.prior_finding_ref_numbers not in ('', 'N/A'))
      as prior_finding_ref_numbers,
    case when min(awards.is_direct) < max(awards.is_direct) then 'Both' else max(awards.is_direct) end as is_direct,
    count(*) as awards,
    sum(awards.amount_expended)::bigint as amount_expended,
    -- Whether the rows differ only in their awards, as in nearly all findings. If so, a search need not look at each row.
    count(distinct (
      findings.type_requirement, findings.is_material_weakness, findings.is_significant_deficiency, findings.is_questioned_costs,
      findings.is_repeat_finding
    )) = 1 as has_equal_rows,
    -- The programs of the direct awards, and those of the others.
    array_agg(distinct numbers.aln) filter (where awards.is_direct = 'Y' and numbers.aln is not null) as direct_alns,
    array_agg(distinct numbers.aln) filter (where awards.is_direct = 'N' and numbers.aln is not null) as passed_through_alns
  from disclosed_next.findings
  join disclosed_next.general on general.report_id = findings.report_id
  left join disclosed_next.federal_awards as awards on awards.report_id = findings.report_id
    and awards.award_reference = findings.award_reference
  cross join lateral (
    select nullif(awards.federal_agency_prefix, '') || '.' || nullif(awards.federal_award_extension, '')
  ) as numbers (aln)
  group by
    general.report_id, general.auditee_uei, general.audit_year, general.fac_accepted_date, findings.reference_number,
    general.auditee_state, general.entity_type
) as summaries
left join (
  select parts.report_id, parts.finding_ref_number, string_agg(parts.finding_text, '' order by parts.row_number) as text
  from disclosed_next.findings_text as parts
  group by parts.report_id, parts.finding_ref_number
) as texts on texts.report_id = summaries.report_id and texts.finding_ref_number = summaries.reference_number
left join (
  select parts.report_id, parts.finding_ref_number, string_agg(parts.planned_action, '' order by parts.row_number) as text
  from disclosed_next.corrective_action_plans as parts
  group by parts.report_id, parts.finding_ref_number
) as plans on plans.report_id = summaries.report_id and plans.finding_ref_number = summaries.reference_number
order by summaries.fac_accepted_date desc nulls last, summaries.report_id desc, summaries.reference_number;

select data_set.complete_table('disclosed_next', 'finding_summaries');
