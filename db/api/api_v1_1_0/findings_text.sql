-- What the auditor wrote about each finding.
-- One row is the narrative of one finding, or part of it if the narrative is long.
create view api_v1_1_0.findings_text
with (security_invoker = true) as
select
  findings_text.report_id,
  findings_text.auditee_uei,
  findings_text.audit_year,
  findings_text.fac_accepted_date,
  findings_text.finding_ref_number,
  findings_text.contains_chart_or_table,
  findings_text.finding_text,
  findings_text.row_number
from dissemination.findings_text;

comment on view api_v1_1_0.findings_text is
  'Audit finding narratives

One row per narrative, or part of one: what the auditor wrote about a finding, in the detail that
2 CFR 200.516(b) requires, as entered on form SF-SAC.

report_id and finding_ref_number (reference_number in `findings`) join to `findings` and
`corrective_action_plans`, but a long narrative may take several rows with the same two values. Concatenate the
parts in the order of row_number.

report_id joins to `general`. `findings` and this table embed each other: findings?select=*,findings_text(*) and
findings_text?select=*,findings(*).';
comment on column api_v1_1_0.findings_text.finding_text is
  E'Text of the finding\n'
  'Text of the finding: criteria, condition, cause, effect, questioned costs, recommendation '
  'and views of responsible officials (2 CFR 200.516(b)). May have tens of thousands of '
  'characters, and may continue in the next row of the same finding.';

grant select on api_v1_1_0.findings_text to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.findings_text', '230 + coalesce(octet_length(findings_text.finding_text), 0)');

select request.embed(
  'api_v1_1_0.findings_text', 'api_v1_1_0.findings', '{report_id,finding_ref_number}',
  '230 + coalesce(octet_length(findings_text.finding_text), 0)',
  'The narrative of a finding, in one or more rows.', '{report_id,reference_number}'
);
select request.embed(
  'api_v1_1_0.findings', 'api_v1_1_0.findings_text', '{report_id,reference_number}', '450 + 680',
  'The finding that a narrative describes: one row for each award it affects.', '{report_id,finding_ref_number}'
);
