-- Other Unique Entity Identifiers (UEIs) that an audit covers.
-- One row is one UEI that a report lists.
create view api_v1_1_0.additional_ueis
with (security_invoker = true) as
select
  additional_ueis.report_id,
  additional_ueis.auditee_uei,
  additional_ueis.audit_year,
  additional_ueis.fac_accepted_date,
  additional_ueis.additional_uei,
  additional_ueis.row_number
from dissemination.additional_ueis;

comment on view api_v1_1_0.additional_ueis is
  'Additional UEIs

One row per entry on form SF-SAC: entities that the audit covers besides the auditee
(general.auditee_uei). A report may list an entity twice. Most reports have none; general.is_additional_ueis
says which have some.

Join to `general` by report_id, which is not unique here. To find the reports that cover an entity, look
for its UEI both here and in general.auditee_uei. To embed these rows, request
general?select=*,additional_ueis(additional_uei).

Callers without Tribal access see no rows of suppressed submissions (2 CFR 200.512(b)(2)) here. In `general`,
they see only report_id and is_public of these submissions.';
comment on column api_v1_1_0.additional_ueis.report_id is
  E'Report ID\n'
  'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": normally the year and month in which the '
  'audited fiscal year ends, then GSAFAC or CENSUS, then ten digits. Joins to report_id in other tables; not unique here.';
comment on column api_v1_1_0.additional_ueis.auditee_uei is
  E'Auditee UEI\n'
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs. Same value as general.auditee_uei. For the additional UEI, see '
  'additional_uei.';
comment on column api_v1_1_0.additional_ueis.audit_year is
  E'Audit year\n'
  'Audit year, normally the year in which the audited fiscal year ends: four digits as text, '
  'not a number. gt, gte, lt and lte compare text, so use four digits.';
comment on column api_v1_1_0.additional_ueis.fac_accepted_date is
  E'Date accepted\n'
  'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD. Same value as '
  'general.fac_accepted_date.';
comment on column api_v1_1_0.additional_ueis.additional_uei is
  E'Additional UEI\n'
  'UEI that the audit also covers: 12 characters as text.';
comment on column api_v1_1_0.additional_ueis.row_number is
  E'Row number\n'
  'Number of the row in this data set: unique, and in the order of the bulk file. Each data set numbers its rows anew.';

grant select on api_v1_1_0.additional_ueis to api_public, api_tribal;

-- Embedding in both directions; schema.sql explains it.

create function api_v1_1_0.general(api_v1_1_0.additional_ueis) returns setof api_v1_1_0.general rows 1
language sql stable
begin atomic select general.* from api_v1_1_0.general where general.report_id = $1.report_id; end;
comment on function api_v1_1_0.general(api_v1_1_0.additional_ueis) is 'The report that covers an additional UEI.';
grant execute on function api_v1_1_0.general(api_v1_1_0.additional_ueis) to api_public, api_tribal;

create function api_v1_1_0.additional_ueis(api_v1_1_0.general) returns setof api_v1_1_0.additional_ueis
language sql stable
begin atomic
  select additional_ueis.* from api_v1_1_0.additional_ueis
  where additional_ueis.report_id = $1.report_id
    and request.limit_embedded_bytes(160);
end;
comment on function api_v1_1_0.additional_ueis(api_v1_1_0.general) is 'Additional UEIs of a report.';
grant execute on function api_v1_1_0.additional_ueis(api_v1_1_0.general) to api_public, api_tribal;
