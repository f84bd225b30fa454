-- How many reports have how many findings, by kind and size of the auditee, computed once (db/data_set/totals.sql).
create view api_v1_1_0.totals_by_peers
with (security_invoker = true) as
select
  totals_by_peers.audit_year,
  totals_by_peers.entity_type,
  totals_by_peers.expended_from,
  totals_by_peers.expended_to,
  totals_by_peers.findings,
  totals_by_peers.submissions,
  totals_by_peers.median_findings
from dissemination.totals_by_peers;

comment on view api_v1_1_0.totals_by_peers is
  'Findings by kind and size of auditee

One row per audit year, kind of auditee, range of federal dollars expended, and number of findings: how many reports have that many
findings. Use it to compare an auditee with its peers. A group is one kind and range in one year. Groups of fewer than 20 reports,
and auditees of unknown kind, are left out.

The totals are computed once, when the data set is published. Suppressed (2 CFR 200.512(b)(2))
and superseded reports are not counted, even for callers with Tribal access.';
comment on column api_v1_1_0.totals_by_peers.entity_type is
  E'Entity type\n'
  'Kind of auditee: same value as general.entity_type.';
comment on column api_v1_1_0.totals_by_peers.expended_from is
  E'Expended from\n'
  'Least general.total_amount_expended of the group, in dollars.';
comment on column api_v1_1_0.totals_by_peers.expended_to is
  E'Expended to\n'
  'The group''s general.total_amount_expended is less than this, in dollars. Null if there is no upper end.';
comment on column api_v1_1_0.totals_by_peers.findings is
  E'Findings\n'
  'Number of findings in a report. A finding counts once, however many awards it concerns.';
comment on column api_v1_1_0.totals_by_peers.submissions is
  E'Submissions\n'
  'Number of reports of the group that have this many findings.';
comment on column api_v1_1_0.totals_by_peers.median_findings is
  E'Median\n'
  'Median number of findings of the group''s reports: at least half of them have this many or fewer. All rows of a group have the same median.';

grant select on api_v1_1_0.totals_by_peers to api_public, api_tribal;
