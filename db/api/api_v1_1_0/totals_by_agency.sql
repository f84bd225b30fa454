-- Dollars, awards, submissions and findings by year and agency, computed once (db/data_set/totals.sql).
-- One row is one federal agency in one audit year.
create view api_v1_1_0.totals_by_agency
with (security_invoker = true) as
select
  totals_by_agency.audit_year,
  totals_by_agency.federal_agency_prefix,
  totals_by_agency.submissions,
  totals_by_agency.awards,
  totals_by_agency.amount_expended,
  totals_by_agency.findings,
  totals_by_agency.material_weaknesses
from dissemination.totals_by_agency;

comment on view api_v1_1_0.totals_by_agency is
  'Totals by agency and year

One row per audit year and federal agency, with the sums of the public rows of federal_awards and
findings: totals without aggregates. All of it is one request.

Computed once, when the data set was published, from what everybody may see: suppressed submissions
(2 CFR 200.512(b)(2)) and superseded reports are not counted, for a caller with Tribal access neither.

Key: audit_year and federal_agency_prefix. The awards of a row are those of
federal_awards?audit_year=eq.2023&federal_agency_prefix=eq.93. A submission and a finding are counted
for each agency that they concern, so that sums over agencies count them several times; dollars and
awards add up to the totals by state.';
comment on column api_v1_1_0.totals_by_agency.audit_year is
  E'Audit year\n'
  'Audit year, normally the year in which the audited fiscal year ends: four digits as text, '
  'not a number. gt, gte, lt and lte compare it as text.';
comment on column api_v1_1_0.totals_by_agency.federal_agency_prefix is
  E'Federal agency\n'
  'Federal agency, as in federal_awards: the first two digits of the Assistance Listing number, as text.';
comment on column api_v1_1_0.totals_by_agency.submissions is
  E'Submissions\n'
  'Number of submissions with an award of the agency.';
comment on column api_v1_1_0.totals_by_agency.awards is
  E'Awards\n'
  'Number of rows of federal_awards.';
comment on column api_v1_1_0.totals_by_agency.amount_expended is
  E'Amount expended\n'
  'Federal dollars expended under awards of the agency: the sum of amount_expended of federal_awards. '
  'What is passed through counts at each auditee that expends it.';
comment on column api_v1_1_0.totals_by_agency.findings is
  E'Findings\n'
  'Number of findings on awards of the agency: a finding on several of them counts once.';
comment on column api_v1_1_0.totals_by_agency.material_weaknesses is
  E'Material weaknesses\n'
  'Number of these findings that are a material weakness on at least one of these awards: is_material_weakness '
  'is "Y".';

grant select on api_v1_1_0.totals_by_agency to api_public, api_tribal;
