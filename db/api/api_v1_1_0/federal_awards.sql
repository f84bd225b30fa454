-- The schedule of expenditures of Federal awards (SEFA), line by line.
-- One row is one award of a report.
create view api_v1_1_0.federal_awards
with (security_invoker = true) as
select
  federal_awards.report_id,
  federal_awards.auditee_uei,
  federal_awards.audit_year,
  federal_awards.fac_accepted_date,
  federal_awards.award_reference,
  federal_awards.federal_agency_prefix,
  federal_awards.federal_award_extension,
  federal_awards.additional_award_identification,
  federal_awards.federal_program_name,
  federal_awards.amount_expended,
  federal_awards.cluster_name,
  federal_awards.other_cluster_name,
  federal_awards.state_cluster_name,
  federal_awards.cluster_total,
  federal_awards.federal_program_total,
  federal_awards.is_major,
  federal_awards.is_loan,
  federal_awards.loan_balance,
  federal_awards.is_direct,
  federal_awards.audit_report_type,
  federal_awards.findings_count,
  federal_awards.is_passthrough_award,
  federal_awards.passthrough_amount
from dissemination.federal_awards;

comment on view api_v1_1_0.federal_awards is
  'Federal awards expended

One row per award: a line of the schedule of expenditures of Federal awards (SEFA) that the auditee
prepares under 2 CFR 200.510(b) and enters on form SF-SAC.

report_id joins to `general`; with award_reference it joins to `findings`
and `passthrough`. Each can be embedded: select=*,general(auditee_name),findings(*),passthrough(*).

There is no column for the Assistance Listing number (formerly CFDA). It consists of
federal_agency_prefix, a period and federal_award_extension: "93" and "778" for 93.778.
federal_program_total and cluster_total repeat on each row of the program or cluster, so do not
sum them; sum amount_expended.

Flags are "Y" or "N". On migrated records, they may be empty or "GSA_MIGRATION".';
comment on column api_v1_1_0.federal_awards.award_reference is
  E'Award reference\n'
  'Number of the award within its report: "AWARD-0001" in older reports, "AWARD-00001" in newer '
  'ones. Unique within a report; joins to `findings` and `passthrough`.';
comment on column api_v1_1_0.federal_awards.federal_agency_prefix is
  E'Federal agency\n'
  'Agency part of the Assistance Listing number (ALN, formerly CFDA), two digits as text: "93" '
  'is the Department of Health and Human Services.';
comment on column api_v1_1_0.federal_awards.federal_award_extension is
  E'Program number (ALN extension)\n'
  'Program part of the Assistance Listing number (ALN, formerly CFDA), as text: mostly three '
  'digits with leading zeros ("076"), "RD" for research and development, or "U01" and similar if the number is not '
  'known.';
comment on column api_v1_1_0.federal_awards.additional_award_identification is
  E'Additional award identification\n'
  'Additional information that identifies the award, such as "COVID-19" or an award number; free '
  'text, often empty.';
comment on column api_v1_1_0.federal_awards.federal_program_name is
  E'Federal program name\n'
  'Name of the Federal program, as the auditee entered it; spelling varies between reports.';
comment on column api_v1_1_0.federal_awards.amount_expended is
  E'Amount expended\n'
  'Federal money expended under this award in the audited period, in whole US dollars '
  '(2 CFR 200.502). May be negative, for instance after a correction.';
comment on column api_v1_1_0.federal_awards.cluster_name is
  E'Cluster name\n'
  'Cluster of programs that the award belongs to (OMB Compliance Supplement, Part 5), or "N/A". '
  'For "STATE CLUSTER", state_cluster_name has the name; for "OTHER CLUSTER NOT LISTED ABOVE", '
  'other_cluster_name. "GSA_MIGRATION" if a migrated record does not say.';
comment on column api_v1_1_0.federal_awards.other_cluster_name is
  E'Other cluster name\n'
  'Name of the cluster if cluster_name is "OTHER CLUSTER NOT LISTED ABOVE"; otherwise empty.';
comment on column api_v1_1_0.federal_awards.state_cluster_name is
  E'State cluster name\n'
  'Name of the state-designated cluster if cluster_name is "STATE CLUSTER"; otherwise empty.';
comment on column api_v1_1_0.federal_awards.cluster_total is
  E'Cluster total\n'
  'Total of this report''s awards in the cluster, in whole US dollars '
  '(2 CFR 200.510(b)(3)). Repeats on each row of the cluster, so do not sum it.';
comment on column api_v1_1_0.federal_awards.federal_program_total is
  E'Federal program total\n'
  'Total of this report''s awards with the same Assistance Listing number, in whole US dollars '
  '(2 CFR 200.510(b)(3)). Repeats on each row of the program, so do not sum it.';
comment on column api_v1_1_0.federal_awards.is_major is
  E'Major program\n'
  'Whether the award belongs to a program audited as major (2 CFR 200.518). "Y" or "N".';
comment on column api_v1_1_0.federal_awards.is_loan is
  E'Loan or loan guarantee\n'
  'Whether the award is a loan or loan guarantee (2 CFR 200.502(b)). "Y" or "N".';
comment on column api_v1_1_0.federal_awards.loan_balance is
  E'Loan balance\n'
  'Loan balance at the end of the audited period, in US dollars (2 CFR 200.510(b)(5)). Text, '
  'unlike the other amounts: digits, "N/A" or empty. Convert it to a number before you sum it.';
comment on column api_v1_1_0.federal_awards.is_direct is
  E'Direct award\n'
  'Whether a Federal agency made the award directly to the auditee: "Y", or "N" if it came '
  'through a pass-through entity, named in `passthrough`. Filter with eq.Y, not is.true.';
comment on column api_v1_1_0.federal_awards.audit_report_type is
  E'Opinion on compliance\n'
  'Opinion on compliance for the major program (2 CFR 200.515(d)(1)(v)): "U" unmodified, "Q" '
  'qualified, "A" adverse, "D" disclaimer; empty if is_major is "N".';
comment on column api_v1_1_0.federal_awards.findings_count is
  E'Number of findings\n'
  'Number of findings on this award. Their rows in `findings` have the same award_reference. '
  'A finding on several awards counts once for each.';
comment on column api_v1_1_0.federal_awards.is_passthrough_award is
  E'Passed through to subrecipients\n'
  'Whether the auditee passed part of the award on to subrecipients. "Y" or "N". Independent of '
  'is_direct, which says where the money came from.';
comment on column api_v1_1_0.federal_awards.passthrough_amount is
  E'Amount passed through\n'
  'Amount passed on to subrecipients, in whole US dollars (2 CFR 200.510(b)(4)). Null if '
  'is_passthrough_award is "N".';

grant select on api_v1_1_0.federal_awards to api_public, api_tribal;

-- findings.sql and passthrough.sql have the relationships with findings and passthrough.
select request.embed_in_general('api_v1_1_0.federal_awards', '680');
