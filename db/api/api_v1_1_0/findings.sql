-- What each finding is about and how serious it is, for every award that it concerns.
-- One row is one finding on one award.
create view api_v1_1_0.findings
with (security_invoker = true) as
select
  findings.report_id,
  findings.auditee_uei,
  findings.audit_year,
  findings.fac_accepted_date,
  findings.award_reference,
  findings.reference_number,
  findings.is_material_weakness,
  findings.is_modified_opinion,
  findings.is_other_findings,
  findings.is_other_matters,
  findings.prior_finding_ref_numbers,
  findings.is_questioned_costs,
  findings.is_repeat_finding,
  findings.is_significant_deficiency,
  findings.type_requirement
from dissemination.findings;

comment on view api_v1_1_0.findings is
  'Audit findings by award

One row per finding and award: the findings that the auditor must report under 2 CFR 200.516(a), as entered
on form SF-SAC. A finding on three awards has three rows with the same reference_number. To count findings, count
distinct pairs of report_id and reference_number.

report_id joins to `general`; with award_reference it joins to `federal_awards`; with reference_number it joins to `findings_text` and `corrective_action_plans`,
where the column is called finding_ref_number. Each can be embedded:
select=*,federal_awards(*),findings_text(*).';
comment on column api_v1_1_0.findings.award_reference is
  E'Award reference\n'
  'Award that the finding concerns; with report_id, joins to federal_awards. The files of some older '
  'reports have five digits here and four in federal_awards ("AWARD-00001", "AWARD-0001"); such '
  'findings have the award''s four digits here, too.';
comment on column api_v1_1_0.findings.reference_number is
  E'Finding reference number\n'
  'Reference number of the finding within its report (2 CFR 200.516(c)), for example '
  '"2023-001". Called finding_ref_number in findings_text and corrective_action_plans.';
comment on column api_v1_1_0.findings.is_material_weakness is
  E'Material weakness\n'
  'Whether the finding is a material weakness in internal control over the program '
  '(2 CFR 200.516(a)(1)). "Y" or "N"; may be empty on migrated records.';
comment on column api_v1_1_0.findings.is_modified_opinion is
  E'Modified opinion\n'
  'Whether the finding led the auditor to modify the opinion on compliance for the program. "Y" '
  'or "N"; may be empty on migrated records.';
comment on column api_v1_1_0.findings.is_other_findings is
  E'Other finding\n'
  'Whether the finding is reportable for a reason that no other flag covers. "Y" or "N"; '
  'may be empty on migrated records.';
comment on column api_v1_1_0.findings.is_other_matters is
  E'Other matters\n'
  'Whether the finding is noncompliance that must be reported but does not affect the opinion '
  '("other matters"). "Y" or "N"; may be empty on migrated records.';
comment on column api_v1_1_0.findings.prior_finding_ref_numbers is
  E'Prior finding reference numbers\n'
  'Reference numbers of the same finding in the prior audit (2 CFR 200.516(b)(8)), '
  'comma-separated free text; "N/A" if there are none.';
comment on column api_v1_1_0.findings.is_questioned_costs is
  E'Questioned costs\n'
  'Whether the finding has questioned costs (2 CFR 200.516(a)(3)); the amount is only in '
  'findings_text. "Y" or "N"; may be empty on migrated records.';
comment on column api_v1_1_0.findings.is_repeat_finding is
  E'Repeat finding\n'
  'Whether the finding repeats one from the prior year''s audit (2 CFR 200.516(b)(8)); '
  'prior_finding_ref_numbers says which. "Y" or "N"; may be empty on migrated records.';
comment on column api_v1_1_0.findings.is_significant_deficiency is
  E'Significant deficiency\n'
  'Whether the finding is a significant deficiency in internal control over the program '
  '(2 CFR 200.516(a)(1)). "Y" or "N"; may be empty on migrated records.';
comment on column api_v1_1_0.findings.type_requirement is
  E'Compliance requirement type\n'
  'Compliance requirements of the OMB Compliance Supplement that the finding concerns: one or more '
  'letters in alphabetical order without a separator ("AB"). A: activities allowed or unallowed; B: allowable '
  'costs; C: cash management; E: eligibility; F: equipment and real property; G: matching, level of '
  'effort, earmarking; H: period of performance; I: procurement, suspension and debarment; J: '
  'program income; L: reporting; M: subrecipient monitoring; N: special tests and provisions; P: '
  'other. like.*B* finds every row with B.';

grant select on api_v1_1_0.findings to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.findings', '450 + 680');

-- A finding has a row for each award, and a narrative or plan may be split over several rows, so they embed each other as
-- arrays. findings_text.sql has the relationships with findings_text.
select request.embed('api_v1_1_0.findings', 'api_v1_1_0.federal_awards', '{report_id,award_reference}', '450 + 680', 'Findings on an award.');
select request.embed(
  'api_v1_1_0.federal_awards', 'api_v1_1_0.findings', '{report_id,award_reference}', null,
  'The award that a finding concerns; null if the report has no award with this award_reference.'
);
select request.embed(
  'api_v1_1_0.corrective_action_plans', 'api_v1_1_0.findings', '{report_id,finding_ref_number}',
  '220 + coalesce(octet_length(corrective_action_plans.planned_action), 0)',
  'The corrective action plan for a finding, in one or more rows.', '{report_id,reference_number}'
);
select request.embed(
  'api_v1_1_0.findings', 'api_v1_1_0.corrective_action_plans', '{report_id,reference_number}', '450 + 680',
  'The finding that a plan addresses: one row for each award it affects.', '{report_id,finding_ref_number}'
);
