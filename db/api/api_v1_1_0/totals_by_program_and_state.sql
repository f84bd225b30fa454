-- Dollars, awards and findings by year, program and state, computed once (db/data_set/totals.sql).
-- One row is one program in one state in one audit year.
create view api_v1_1_0.totals_by_program_and_state
with (security_invoker = true) as
select
  totals_by_program_and_state.audit_year,
  totals_by_program_and_state.aln,
  totals_by_program_and_state.auditee_state,
  totals_by_program_and_state.awards,
  totals_by_program_and_state.amount_expended,
  totals_by_program_and_state.findings,
  totals_by_program_and_state.material_weaknesses
from dissemination.totals_by_program_and_state;

comment on view api_v1_1_0.totals_by_program_and_state is
  'Totals by program, state and year

One row per audit year, Assistance Listing number (ALN) and state of the auditee, with sums over the public rows of
`federal_awards` and `findings`. Queries cannot aggregate, so use this table. It may have more than 20,000 rows, so filter by
aln, or page.

The totals are computed once, when the data set is published. Suppressed (2 CFR 200.512(b)(2))
and superseded reports are not counted, even for callers with Tribal access.

The rows of a program and year add up to its row in totals_by_program. A finding counts once for each program that it
concerns.';
comment on column api_v1_1_0.totals_by_program_and_state.aln is
  E'Program (ALN)\n'
  'Assistance Listing number (ALN, formerly CFDA), as in totals_by_program.aln.';
comment on column api_v1_1_0.totals_by_program_and_state.auditee_state is
  E'Auditee state\n'
  'State or territory of the auditee, as in general.auditee_state: two letters, or null or empty if it is not stated.';

grant select on api_v1_1_0.totals_by_program_and_state to api_public, api_tribal;
