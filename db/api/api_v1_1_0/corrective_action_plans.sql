-- What the auditee plans to do about each finding.
-- One row is the plan for one finding, or part of it if the plan is long.
create view api_v1_1_0.corrective_action_plans
with (security_invoker = true) as
select
  corrective_action_plans.report_id,
  corrective_action_plans.auditee_uei,
  corrective_action_plans.audit_year,
  corrective_action_plans.fac_accepted_date,
  corrective_action_plans.finding_ref_number,
  corrective_action_plans.contains_chart_or_table,
  corrective_action_plans.planned_action,
  corrective_action_plans.row_number
from dissemination.corrective_action_plans;

comment on view api_v1_1_0.corrective_action_plans is
  'Corrective action plans

One row per plan, or part of one: how the auditee will correct a finding, as 2 CFR 200.511(c)
requires and as entered on form SF-SAC.

report_id and finding_ref_number (reference_number in `findings`) join to `findings` and `findings_text`, but
a long plan may take several rows with the same two values. Concatenate the parts in the order of row_number.

report_id joins to `general`. `findings` and this table embed each other:
findings?select=*,corrective_action_plans(*) and
corrective_action_plans?select=*,findings(*).

Callers without Tribal access see no rows of suppressed submissions (2 CFR 200.512(b)(2)) here. In `general`,
they see only report_id and is_public of these submissions.';
comment on column api_v1_1_0.corrective_action_plans.report_id is
  E'Report ID\n'
  'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": normally the year and month in which the '
  'audited fiscal year ends, then GSAFAC or CENSUS, then ten digits. Joins to report_id in other tables; not unique here.';
comment on column api_v1_1_0.corrective_action_plans.auditee_uei is
  E'Auditee UEI\n'
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs. Same value as general.auditee_uei.';
comment on column api_v1_1_0.corrective_action_plans.audit_year is
  E'Audit year\n'
  'Audit year, normally the year in which the audited fiscal year ends: four digits as text, '
  'not a number. gt, gte, lt and lte compare text, so use four digits.';
comment on column api_v1_1_0.corrective_action_plans.fac_accepted_date is
  E'Date accepted\n'
  'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD. Same value as '
  'general.fac_accepted_date.';
comment on column api_v1_1_0.corrective_action_plans.finding_ref_number is
  E'Finding reference number\n'
  'Reference number of the finding that the plan addresses, for example "2023-001". Same value as '
  'reference_number in findings.';
comment on column api_v1_1_0.corrective_action_plans.contains_chart_or_table is
  E'Contains a chart or table\n'
  'Whether the text in the report has charts or tables that plain text cannot show: "Y", "N", '
  'or "GSA_MIGRATION" on migrated records. If "Y", see the report''s PDF.';
comment on column api_v1_1_0.corrective_action_plans.planned_action is
  E'Planned corrective action\n'
  'Text of the plan: the corrective action, the person responsible and the planned completion '
  'date, or why the auditee disagrees (2 CFR 200.511(c)). May have thousands of characters, and '
  'may continue in the next row of the same finding.';
comment on column api_v1_1_0.corrective_action_plans.row_number is
  E'Row number\n'
  'Number of the row in this data set: unique, and in the order of the bulk file. Each data set numbers its rows anew.';

grant select on api_v1_1_0.corrective_action_plans to api_public, api_tribal;

-- Embedding in both directions; schema.sql explains it. findings.sql has the relationships of findings with
-- corrective_action_plans.

create function api_v1_1_0.general(api_v1_1_0.corrective_action_plans) returns setof api_v1_1_0.general rows 1
language sql stable
begin atomic select general.* from api_v1_1_0.general where general.report_id = $1.report_id; end;
comment on function api_v1_1_0.general(api_v1_1_0.corrective_action_plans) is
  'The report that a corrective action plan belongs to.';
grant execute on function api_v1_1_0.general(api_v1_1_0.corrective_action_plans) to api_public, api_tribal;

create function api_v1_1_0.corrective_action_plans(api_v1_1_0.general)
returns setof api_v1_1_0.corrective_action_plans
language sql stable
begin atomic
  select corrective_action_plans.* from api_v1_1_0.corrective_action_plans
  where corrective_action_plans.report_id = $1.report_id
    and request.limit_embedded_bytes(220 + coalesce(octet_length(corrective_action_plans.planned_action), 0));
end;
comment on function api_v1_1_0.corrective_action_plans(api_v1_1_0.general) is
  'Corrective action plans of a report.';
grant execute on function api_v1_1_0.corrective_action_plans(api_v1_1_0.general) to api_public, api_tribal;
