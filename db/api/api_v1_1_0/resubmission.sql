-- Which report replaces which other report.
-- One row is one report in a chain of resubmissions. Superseded reports are included.
create view api_v1_1_0.resubmission
with (security_invoker = true) as
select
  resubmission.report_id,
  resubmission.auditee_uei,
  resubmission.audit_year,
  resubmission.fac_accepted_date,
  resubmission.version,
  resubmission.status,
  resubmission.previous_report_id,
  resubmission.next_report_id,
  resubmission.original_submission_date
from dissemination.resubmission;

comment on view api_v1_1_0.resubmission is
  'Resubmissions

One row per report with resubmission data: an auditee that corrects a report submits it again under
a new report_id, and the new report replaces the old one. This table also lists superseded reports,
which no other table shows.

report_id joins to `general` for reports that are still current. A superseded report has no row
there, so embedding `general` returns null. previous_report_id and next_report_id join this table to
itself.

Suppressed submissions (2 CFR 200.512(b)(2)) have no rows here for callers without Tribal access, and
rows of public reports do not reveal them: the chain looks as if it contained only its public reports.';
comment on column api_v1_1_0.resubmission.report_id is
  E'Report ID\n'
  'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": normally the year and month in which the '
  'audited fiscal year ends, then GSAFAC or CENSUS, then ten digits. Joins to report_id in other tables, but superseded reports are '
  'only in this table.';
comment on column api_v1_1_0.resubmission.auditee_uei is
  E'Auditee UEI\n'
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs.';
comment on column api_v1_1_0.resubmission.fac_accepted_date is
  E'Date accepted\n'
  'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD.';
comment on column api_v1_1_0.resubmission.version is
  E'Version\n'
  'Number of the report within its chain. Later reports have higher numbers.';
comment on column api_v1_1_0.resubmission.status is
  E'Status\n'
  '"most_recent", "deprecated_via_resubmission" (superseded, see next_report_id) or '
  '"unknown_resubmission_status".';
comment on column api_v1_1_0.resubmission.previous_report_id is
  E'Previous report ID\n'
  'ID of the report that this one replaces; null for the first in a chain.';
comment on column api_v1_1_0.resubmission.next_report_id is
  E'Next report ID\n'
  'ID of the report that replaces this one; null for the last in a chain.';
comment on column api_v1_1_0.resubmission.original_submission_date is
  E'Date of the original submission\n'
  'fac_accepted_date of the first report in the chain, found by following previous_report_id; '
  'YYYY-MM-DD.';

grant select on api_v1_1_0.resubmission to api_public, api_tribal;

select request.embed_in_general('api_v1_1_0.resubmission', '290');
