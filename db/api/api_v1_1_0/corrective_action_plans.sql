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
corrective_action_plans?select=*,findings(*).';
comment on column api_v1_1_0.corrective_action_plans.planned_action is
  E'Planned corrective action\n'
  'Text of the plan: the corrective action, the person responsible and the planned completion '
  'date, or why the auditee disagrees (2 CFR 200.511(c)). May have thousands of characters, and '
  'may continue in the next row of the same finding.';

grant select on api_v1_1_0.corrective_action_plans to api_public, api_tribal;

-- findings.sql has the relationships with findings.
select request.embed_in_general(
  'api_v1_1_0.corrective_action_plans',
  '220'
  ' + coalesce(octet_length(corrective_action_plans.planned_action), 0)'
);
