-- Each public finding once, computed when the data set is built (db/data_set/finding_summaries.sql). One row is one finding.
create view api_v1_1_0.finding_summaries
with (security_invoker = true) as
select
  finding_summaries.report_id,
  finding_summaries.auditee_uei,
  finding_summaries.audit_year,
  finding_summaries.fac_accepted_date,
  finding_summaries.reference_number,
  finding_summaries.auditee_state,
  finding_summaries.entity_type,
  finding_summaries.alns,
  finding_summaries.type_requirement,
  finding_summaries.is_material_weakness,
  finding_summaries.is_significant_deficiency,
  finding_summaries.is_modified_opinion,
  finding_summaries.is_other_matters,
  finding_summaries.is_other_findings,
  finding_summaries.is_questioned_costs,
  finding_summaries.is_repeat_finding,
  finding_summaries.prior_finding_ref_numbers,
  finding_summaries.is_direct,
  finding_summaries.awards,
  finding_summaries.amount_expended
from dissemination.finding_summaries;

comment on view api_v1_1_0.finding_summaries is
  'Findings, each once

One row per finding, however many awards it concerns, with the newest reports first. `findings` has a row for each award of a
finding. Here, a flag is "Y" if it is "Y" in any of these rows. type_requirement has the letters of all rows, and alns the
programs of all awards.

The rows are computed once, when the data set is built. Suppressed (2 CFR 200.512(b)(2))
and superseded reports have none, even for callers with Tribal access.';
comment on column api_v1_1_0.finding_summaries.reference_number is
  E'Finding reference number\n'
  'Reference number of the finding within its report, as in `findings`.';
comment on column api_v1_1_0.finding_summaries.auditee_state is
  E'Auditee state\n'
  'State or territory of the auditee: same value as general.auditee_state.';
comment on column api_v1_1_0.finding_summaries.entity_type is
  E'Entity type\n'
  'Kind of auditee: same value as general.entity_type.';
comment on column api_v1_1_0.finding_summaries.alns is
  E'Programs (ALN)\n'
  'Assistance Listing numbers of the awards that the finding concerns. alns=cs.{93.778} finds the findings that concern a program. '
  'Awards that lack one of the two parts of the number are left out.';
comment on column api_v1_1_0.finding_summaries.type_requirement is
  E'Compliance requirement type\n'
  'Compliance requirements that the finding concerns: letters in alphabetical order, as in `findings`.';
comment on column api_v1_1_0.finding_summaries.is_direct is
  E'Direct award\n'
  'Whether the awards that the finding concerns came directly from the federal government: "Y", "N", or "Both" if some did. '
  'Null if the report has no such award.';
comment on column api_v1_1_0.finding_summaries.awards is
  E'Awards\n'
  'Number of awards that the finding concerns.';
comment on column api_v1_1_0.finding_summaries.amount_expended is
  E'Amount expended\n'
  'Federal dollars expended on the awards that the finding concerns. This is not the amount of questioned costs.';

grant select on api_v1_1_0.finding_summaries to api_public, api_tribal;

-- 450: the approximate bytes of a row as JSON.
select request.embed_in_general('api_v1_1_0.finding_summaries', '450');
