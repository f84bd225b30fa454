-- What the auditor wrote about each finding.
-- One row is the narrative of one finding, or a part of it where the narrative is long.
create view api_v1_1_0.findings_text
with (security_invoker = true) as
select
  findings_text.report_id,
  findings_text.auditee_uei,
  findings_text.audit_year,
  findings_text.fac_accepted_date,
  findings_text.finding_ref_number,
  findings_text.contains_chart_or_table,
  findings_text.finding_text
from dissemination.findings_text;

comment on view api_v1_1_0.findings_text is
  'Audit finding narratives

One row per narrative, or part of one: what the auditor wrote about a finding, in the detail that
2 CFR 200.516(b) asks for, as entered in form SF-SAC.

Key: report_id and finding_ref_number, which join findings (there called reference_number) and
corrective_action_plans. The key is not unique: a long narrative may be split over several rows with
the same report_id and finding_ref_number. They stand in the order of the text, and no column
numbers them: read them without order= and without embedding, and put them together in the order
received.

report_id joins general. Embedding works both ways: findings?select=*,findings_text(*) and
findings_text?select=*,findings(*).

Suppressed submissions (2 CFR 200.512(b)(2)) have no rows here for a caller without Tribal access;
`general` shows only that they exist.';
comment on column api_v1_1_0.findings_text.report_id is
  'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": the month in which the audited fiscal '
  'year ends, GSAFAC or CENSUS, ten digits. Joins every table; not unique here.';
comment on column api_v1_1_0.findings_text.auditee_uei is
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs. Same value as in general.';
comment on column api_v1_1_0.findings_text.audit_year is
  'Audit year, normally the year in which the audited fiscal year ends: four digits as text, '
  'not a number. gt, gte, lt and lte compare it as text.';
comment on column api_v1_1_0.findings_text.fac_accepted_date is
  'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD. Same value as '
  'in general.';
comment on column api_v1_1_0.findings_text.finding_ref_number is
  'Reference number of the finding within its report, for example "2023-001" '
  '(2 CFR 200.516(c)). Same value as reference_number in findings.';
comment on column api_v1_1_0.findings_text.contains_chart_or_table is
  'Whether the text in the report has charts or tables that plain text cannot carry: "Y", "N", '
  'or "GSA_MIGRATION" on migrated records. On "Y", read the report itself.';
comment on column api_v1_1_0.findings_text.finding_text is
  'Text of the finding: criteria, condition, cause, effect, questioned costs, recommendation '
  'and views of responsible officials (2 CFR 200.516(b)). May be tens of thousands of '
  'characters and may go on in the next row of the same finding.';

grant select on api_v1_1_0.findings_text to api_public, api_tribal;
