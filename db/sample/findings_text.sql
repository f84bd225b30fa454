-- One text and one plan per finding. A few long texts are split into rows with the same key, as in the real data.
create view sample.findings_text as
select
  id,
  10 * finding + piece as number,
  reference as finding_ref_number,
  case when sample.draw(key, 'chart') < 0.04 then 'Y' else 'N' end as contains_chart_or_table,
  sample.cut(sample.fill(sample.write_finding(key), key, short_name, year, program, listing, type_requirement),
    piece, pieces) as finding_text,
  sample.cut(sample.fill(sample.write_plan(key, entity_type), key, short_name, year, program, listing, type_requirement),
    piece, pieces) as planned_action
from sample.drawn_findings
cross join lateral (select case when sample.draw(key, 'split') < 0.08 then 3 else 1 end as pieces) as split
cross join lateral generate_series(1, pieces) as piece;
