-- One plan a finding, split as the findings' texts are. A Tribe's plans begin with its enterprises.

create view sample.corrective_action_plans as
select
  described.id, 10 * described.number + piece as number,
  report_id, auditee_uei, audit_year, fac_accepted_date,
  reference as finding_ref_number,
  contains_chart_or_table,
  substr(filled.text, (piece - 1) * (length(filled.text) / pieces + 1) + 1, length(filled.text) / pieces + 1) as planned_action
from sample.described_findings as described
cross join lateral (
  select case when entity_type = 'tribal' then sample.pick('tribal plan', key) || ' ' else '' end
    || sample.compose('plan', key, least(21500, sample.skewed(sample.draw(key, 'plan length'), 420, 0.48))) as text
) as composed
cross join lateral (
  select sample.fill(composed.text, key, short_name, year, program, program_number, requirement) as text offset 0
) as filled
cross join lateral sample.count_pieces(filled.text, key) as pieces
cross join lateral generate_series(1, pieces) as piece;
