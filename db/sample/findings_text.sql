-- One text a finding. Long texts arrived in pieces, so a few are split into rows with the same key. `offset 0` keeps the
-- planner from composing a text again for each use.

create function sample.count_pieces(text text, key bigint) returns int
language sql immutable parallel safe
return case when length(text) > 10000 or length(text) > 1500 and sample.draw(key, 'split') < 0.08
  then sample.whole(key, 'pieces', 2, 3) else 1 end;

create view sample.described_findings as
select
  drawn.*,
  award.program,
  award.federal_agency_prefix || '.' || award.federal_award_extension as program_number,
  case when is_migrated and sample.draw(drawn.key, 'migrated chart') < 0.5 then 'GSA_MIGRATION'
    when sample.draw(drawn.key, 'chart') < 0.04 then 'Y' else 'N' end as contains_chart_or_table
from sample.drawn_findings as drawn
join sample.awards as award on award.id = drawn.id and award.number = 1 + drawn.first_award % drawn.awards;

create view sample.findings_text as
select
  described.id, 10 * described.number + piece as number,
  report_id, auditee_uei, audit_year, fac_accepted_date,
  reference as finding_ref_number,
  contains_chart_or_table,
  substr(filled.text, (piece - 1) * (length(filled.text) / pieces + 1) + 1, length(filled.text) / pieces + 1) as finding_text
from sample.described_findings as described
cross join lateral (
  select
    sample.choose(array[E'\n', E'\n\n', ' ', E'\r\n'], sample.draw(key, 'separator')) as separator,
    greatest(500, least(31500, sample.skewed(sample.draw(key, 'length'), 1900, 0.5))) as length
) as form
cross join lateral (
  -- Six of the eight sections share the length. The others have sentences that exclude each other.
  select string_agg(title || ': ' || sample.compose('finding ' || section, key,
    case when title in ('Questioned costs', 'Views of responsible officials') then 0 else length / 6 end),
    separator order by section) as text
  from unnest(sample.list('finding titles')) with ordinality as sections (title, section)
) as composed
cross join lateral (
  select sample.fill(composed.text, key, short_name, year, program, program_number, requirement) as text offset 0
) as filled
cross join lateral sample.count_pieces(filled.text, key) as pieces
cross join lateral generate_series(1, pieces) as piece;
