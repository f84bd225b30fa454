-- Dollars, awards, submissions and findings by year and state, computed once (db/data_set/totals.sql).
-- One row is one state in one audit year.
create view api_v1_1_0.totals_by_state
with (security_invoker = true) as
select
  totals_by_state.audit_year,
  totals_by_state.auditee_state,
  totals_by_state.submissions,
  totals_by_state.awards,
  totals_by_state.amount_expended,
  totals_by_state.findings,
  totals_by_state.material_weaknesses
from dissemination.totals_by_state;

comment on view api_v1_1_0.totals_by_state is
  'Totals by state and year

One row per audit year and state of the auditee, with sums over the public rows of `general`,
`federal_awards` and `findings`. Queries cannot aggregate, so use this table. One request returns the whole table.

The totals are computed once, when the data set is published. Suppressed (2 CFR 200.512(b)(2))
and superseded reports are not counted, even for callers with Tribal access.

To list the reports behind a row, request
general?audit_year=eq.2023&auditee_state=eq.CA. If one auditee passes federal money through to another,
both expend it, so it is counted for both.';
comment on column api_v1_1_0.totals_by_state.auditee_state is
  E'Auditee state\n'
  'State or territory of the auditee, as in general.auditee_state: two letters, or null or empty if it is not stated.';
comment on column api_v1_1_0.totals_by_state.submissions is
  E'Submissions\n'
  'Number of reports.';

grant select on api_v1_1_0.totals_by_state to api_public, api_tribal;
