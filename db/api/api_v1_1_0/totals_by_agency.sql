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

One row per audit year and federal agency, with sums over the public rows of `federal_awards` and
`findings`. Queries cannot aggregate, so use this table. One request returns the whole table.

The totals are computed once, when the data set is published. Suppressed (2 CFR 200.512(b)(2))
and superseded reports are not counted, even for callers with Tribal access.

To list the awards behind a row, request
federal_awards?audit_year=eq.2023&federal_agency_prefix=eq.93. A report or finding counts once
for each agency that it concerns, so sum only the columns awards and amount_expended over agencies: their
totals for a year match those in totals_by_state.';
comment on column api_v1_1_0.totals_by_agency.federal_agency_prefix is
  E'Federal agency\n'
  'Federal agency, as in federal_awards: the first two digits of the Assistance Listing number, as text.';
comment on column api_v1_1_0.totals_by_agency.submissions is
  E'Submissions\n'
  'Number of reports with at least one award from the agency.';

grant select on api_v1_1_0.totals_by_agency to api_public, api_tribal;
