-- Other Employer Identification Numbers (EINs) that an audit covers.
-- One row is one EIN that a report lists.
create view api_v1_1_0.additional_eins
with (security_invoker = true) as
select
  additional_eins.report_id,
  additional_eins.auditee_uei,
  additional_eins.audit_year,
  additional_eins.fac_accepted_date,
  additional_eins.additional_ein,
  additional_eins.row_number
from dissemination.additional_eins;

comment on view api_v1_1_0.additional_eins is
  'Additional EINs

One row per entry on form SF-SAC: Employer Identification Numbers that the audit covers besides
general.auditee_ein. A report may list a number twice. Most reports have none; general.is_multiple_eins
says which have some.

Join to `general` by report_id, which is not unique here. To find the reports that cover an entity, look
for its EIN both here and in general.auditee_ein. To embed these rows, request
general?select=*,additional_eins(additional_ein).

Callers without Tribal access see no rows of suppressed submissions (2 CFR 200.512(b)(2)) here. In `general`,
they see only report_id and is_public of these submissions.';
comment on column api_v1_1_0.additional_eins.report_id is
  E'Report ID\n'
  'Identifier of the report, "YYYY-MM-SOURCE-NNNNNNNNNN": normally the year and month in which the '
  'audited fiscal year ends, then GSAFAC or CENSUS, then ten digits. Joins to report_id in other tables; not unique here.';
comment on column api_v1_1_0.additional_eins.auditee_uei is
  E'Auditee UEI\n'
  'Unique Entity Identifier (UEI) of the auditee: 12 characters, or "GSA_MIGRATION" on migrated '
  'records that are older than UEIs. Same value as general.auditee_uei.';
comment on column api_v1_1_0.additional_eins.audit_year is
  E'Audit year\n'
  'Audit year, normally the year in which the audited fiscal year ends: four digits as text, '
  'not a number. gt, gte, lt and lte compare text, so use four digits.';
comment on column api_v1_1_0.additional_eins.fac_accepted_date is
  E'Date accepted\n'
  'Date on which the Federal Audit Clearinghouse accepted the report, YYYY-MM-DD. Same value as '
  'general.fac_accepted_date.';
comment on column api_v1_1_0.additional_eins.additional_ein is
  E'Additional EIN\n'
  'EIN that the audit also covers: nine digits without a dash, as text because leading zeros '
  'count.';
comment on column api_v1_1_0.additional_eins.row_number is
  E'Row number\n'
  'Number of the row in this data set: unique, and in the order of the bulk file. Each data set numbers its rows anew.';

grant select on api_v1_1_0.additional_eins to api_public, api_tribal;

-- Embedding in both directions; schema.sql explains it.

create function api_v1_1_0.general(api_v1_1_0.additional_eins) returns setof api_v1_1_0.general rows 1
language sql stable
begin atomic select general.* from api_v1_1_0.general where general.report_id = $1.report_id; end;
comment on function api_v1_1_0.general(api_v1_1_0.additional_eins) is 'The report that covers an additional EIN.';
grant execute on function api_v1_1_0.general(api_v1_1_0.additional_eins) to api_public, api_tribal;

create function api_v1_1_0.additional_eins(api_v1_1_0.general) returns setof api_v1_1_0.additional_eins
language sql stable
begin atomic
  select additional_eins.* from api_v1_1_0.additional_eins
  where additional_eins.report_id = $1.report_id
    and request.limit_embedded_bytes(160);
end;
comment on function api_v1_1_0.additional_eins(api_v1_1_0.general) is 'Additional EINs of a report.';
grant execute on function api_v1_1_0.additional_eins(api_v1_1_0.general) to api_public, api_tribal;
