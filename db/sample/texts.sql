-- One text and one plan a finding, and notes to the schedule of awards.

-- The texts are composed when the files are written: composed before a join, gigabytes of text would go through its hash table.
create table sample.subjects as
select
  drawn.*,
  case when sample.draw(drawn.key, 'chart') < 0.04 then 'Y' else 'N' end as contains_chart_or_table,
  -- Long texts arrived in pieces, so a few are split into rows with the same key.
  case when sample.draw(id, 'split ' || drawn.number) < 0.08 then 3 else 1 end as pieces,
  award.program,
  award.federal_agency_prefix || '.' || award.federal_award_extension as listing
from sample.drawn_findings as drawn
join sample.awards as award using (id)
where award.number = 1 + drawn.first_award % drawn.awards;

create function sample.cut(text text, piece int, pieces int) returns text immutable
return substr(text, (piece - 1) * (length(text) / pieces + 1) + 1, length(text) / pieces + 1);

create view sample.findings_text as
select id, 10 * subjects.number + piece as number, reference as finding_ref_number, contains_chart_or_table,
  sample.cut(sample.fill(text, key, short_name, year, program, listing, requirement), piece, pieces) as finding_text
from sample.subjects
cross join lateral (
  select string_agg(title || ': ' || sample.compose(items, length,
    -- Six of the eight sections share the length. The others have sentences that exclude each other.
    case when title in ('Questioned costs', 'Views of responsible officials') then 0
      else least(27000, sample.skewed(sample.draw(key, 'length'), 1900, 0.5)) / 6 end),
    sample.pick('separators', key) order by section) as text
  from unnest(sample.list('finding titles')) with ordinality as sections (title, section)
  join sample.sentences on list = 'finding ' || section and first = 1 + (key & 1)
) as composed
cross join lateral generate_series(1, pieces) as piece;

create view sample.corrective_action_plans as
select id, 10 * subjects.number + piece as number, reference as finding_ref_number, contains_chart_or_table,
  sample.cut(sample.fill(text, key, short_name, year, program, listing, requirement), piece, pieces) as planned_action
from sample.subjects
join sample.sentences on list = 'plan' and first = 1 + (key & 7)
cross join lateral (
  -- A Tribe's plans begin with its enterprises.
  select case entity_type when 'tribal' then sample.pick('tribal plan', key) || ' ' else '' end
    || sample.compose(items, length, least(21500, sample.skewed(sample.draw(key, 'plan length'), 420, 0.48))) as text
) as composed
cross join lateral generate_series(1, pieces) as piece;

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
