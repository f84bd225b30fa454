-- Dollars, awards and findings by year and program, computed once (db/data_set/totals.sql).
-- One row is one program in one audit year.
create view api_v1_1_0.totals_by_program
with (security_invoker = true) as
select
  totals_by_program.audit_year,
  totals_by_program.aln,
  totals_by_program.federal_program_name,
  totals_by_program.awards,
  totals_by_program.amount_expended,
  totals_by_program.findings,
  totals_by_program.material_weaknesses
from dissemination.totals_by_program;

comment on view api_v1_1_0.totals_by_program is
  'Totals by program and year

One row per audit year and Assistance Listing number (ALN), with sums over the public rows of `federal_awards` and
`findings`. Queries cannot aggregate, so use this table. It may have more than 20,000 rows, so filter by aln or
audit_year, or page.

The totals are computed once, when the data set is published. Suppressed (2 CFR 200.512(b)(2))
and superseded reports are not counted, even for callers with Tribal access.

To list the awards behind a row, request
federal_awards?audit_year=eq.2023&federal_agency_prefix=eq.93&federal_award_extension=eq.778. A finding counts once
for each program that it concerns, so sum only the columns awards and amount_expended over programs: their
totals for a year match those in totals_by_state.';
comment on column api_v1_1_0.totals_by_program.aln is
  E'Program (ALN)\n'
  'Assistance Listing number (ALN, formerly CFDA): federal_agency_prefix, a period and federal_award_extension of '
  'federal_awards, as in 93.778. Malformed numbers count as the auditee entered them. Null for all awards that lack '
  'one of the two parts, or have a period in the first.';
comment on column api_v1_1_0.totals_by_program.federal_program_name is
  E'Federal program name\n'
  'The name that most awards with this ALN have, in all years together. Null if aln is null or no award has a name.';

grant select on api_v1_1_0.totals_by_program to api_public, api_tribal;
