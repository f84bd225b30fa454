-- One text and one plan a finding, and notes to the schedule of awards.

create table sample.texts as
select
  drawn.id,
  drawn.number,
  reference as finding_ref_number,
  case when sample.draw(drawn.key, 'chart') < 0.04 then 'Y' else 'N' end as contains_chart_or_table,
  kind,
  sample.fill(text, drawn.key, short_name, year, program, federal_agency_prefix || '.' || federal_award_extension, requirement)
    as text
from sample.drawn_findings as drawn
join sample.awards as award on award.id = drawn.id and award.number = 1 + drawn.first_award % drawn.awards
cross join lateral (
  select 'finding' as kind, string_agg(title || ': ' || sample.compose(items, length,
    -- Six of the eight sections share the length. The others have sentences that exclude each other.
    case when title in ('Questioned costs', 'Views of responsible officials') then 0
      else least(27000, sample.skewed(sample.draw(drawn.key, 'length'), 1900, 0.5)) / 6 end),
    sample.pick('separators', drawn.key) order by section) as text
  from unnest(sample.list('finding titles')) with ordinality as sections (title, section)
  join sample.sentences on list = 'finding ' || section and first = 1 + (drawn.key & 1)
  union all
  -- A Tribe's plans begin with its enterprises.
  select 'plan', case entity_type when 'tribal' then sample.pick('tribal plan', drawn.key) || ' ' else '' end
    || sample.compose(items, length, least(21500, sample.skewed(sample.draw(drawn.key, 'plan length'), 420, 0.48)))
  from sample.sentences
  where list = 'plan' and first = 1 + (drawn.key & 7)
) as texts
offset 0;

analyze sample.texts;

-- Long texts arrived in pieces, so a few are split into rows with the same key.
create view sample.pieces as
select
  texts.*,
  10 * texts.number + piece as piece_number,
  substr(text, (piece - 1) * (length(text) / pieces + 1) + 1, length(text) / pieces + 1) as part
from sample.texts
cross join lateral (select case when sample.draw(id, 'split ' || texts.number) < 0.08 then 3 else 1 end as pieces) as split
cross join lateral generate_series(1, pieces) as piece;

create view sample.findings_text as
select id, piece_number as number, finding_ref_number, contains_chart_or_table, part as finding_text
from sample.pieces
where kind = 'finding';

create view sample.corrective_action_plans as
select id, piece_number as number, finding_ref_number, contains_chart_or_table, part as planned_action
from sample.pieces
where kind = 'plan';

-- Each note repeats the policies of its report.
create view sample.notes_to_sefa as
select
  submissions.id,
  note as number,
  (sample.list('note titles'))[kind] as title,
  sample.fill(sample.compose(policies.items, policies.length, sample.skewed(sample.draw(key, 'policies'), 500, 0.38)),
    key, short_name, year, program, listing, 'A') as accounting_policies,
  rate as is_minimis_rate_used,
  case rate
    when 'Both' then 'Some awards use the 10% de minimis rate; others a rate negotiated with the cognizant agency.'
    when 'GSA_MIGRATION' then 'GSA_MIGRATION'
    else 'The auditee ' || case rate when 'Y' then 'used' else 'did not use' end || ' the de minimis cost rate.'
  end as rate_explained,
  sample.fill(sample.compose(notes.items, notes.length, least(18500, sample.skewed(sample.draw(note_key, 'length'), 360, 0.38))),
    note_key, short_name, year, program, listing, 'B') as content,
  case when is_migrated then 'GSA_MIGRATION' when sample.draw(note_key, 'chart') < 0.03 then 'Y' else 'N' end
    as contains_chart_or_table
from (
  select
    submissions.*,
    short_name,
    program,
    federal_agency_prefix || '.' || federal_award_extension as listing,
    case when is_migrated and sample.draw(submissions.key, 'rate known') < 0.15 then 'GSA_MIGRATION'
      else sample.pick('rates', submissions.key) end as rate
  from sample.submissions
  join sample.auditees on auditees.number = submissions.auditee
  join sample.awards as award on award.id = submissions.id and award.number = 1
) as submissions
cross join lateral generate_series(1, (array[1, 1, 1, 1, 2, 2, 2, 3, 3, 4])[sample.whole(key, 'notes', 1, 10)]) as note
cross join lateral (
  select sample.child(key, 4000000000 + note) as note_key, 1 + ((sample.whole(key, 'first note', 0, 5) + note) % 6)::int as kind
) as drawn
join sample.sentences as notes on notes.list = 'note ' || kind and notes.first = 1 + (note_key & 1)
join sample.sentences as policies on policies.list = 'policies' and policies.first = 1 + (key & 7);
