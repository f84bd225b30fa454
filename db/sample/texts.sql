-- One text and one plan a finding, and notes to the schedule of awards. The texts are composed when the files are written:
-- composed before a join, gigabytes of text would go through its hash table.

-- Sentences of about the wanted length together: some, from any of them on, and then all of them over and over again. In
-- PL/pgSQL, since an SQL function that is not inlined takes twice as long.
create function sample.compose(sentences text[], key bigint, length double precision) returns text
immutable language plpgsql as $$
declare
  first constant int := 1 + abs(key % cardinality(sentences));
  more constant int := length / 120;
begin
  return array_to_string((sentences || sentences)[first:first + more % cardinality(sentences)], ' ')
    || repeat(' ' || array_to_string(sentences, ' '), more / cardinality(sentences));
end
$$;

-- Fills the slots %1$s to %8$s of a text about an award.
create function sample.fill(text text, key bigint, short_name text, year int, program text, listing text, requirement text)
returns text stable
return format(text, short_name, program, 'Assistance Listing No. ' || listing, year,
  sample.whole(key, 'n', 1, 9), sample.whole(key, 'm', 15, 90),
  to_char(sample.whole(key, 'dollars', 1100, 2400000), 'FM$9,999,999'),
  (sample.list('requirements'))[strpos('ABCEFGHIJLMNP', left(requirement, 1))]);

create function sample.cut(text text, piece int, pieces int) returns text immutable
return substr(text, (piece - 1) * (length(text) / pieces + 1) + 1, length(text) / pieces + 1);

create function sample.write_finding(key bigint) returns text immutable
return (
  select string_agg(title || ': ' || sample.compose(items, key,
    -- Six of the eight sections share the length. The others have sentences that exclude each other.
    case when title in ('Questioned costs', 'Views of responsible officials') then 0
      else least(27000, sample.skewed(sample.draw(key, 'length'), 1900, 0.5)) / 6 end),
    sample.pick('separators', key) order by section)
  from unnest(sample.list('finding titles')) with ordinality as sections (title, section)
  join sample.lists on name = 'finding ' || section
);

-- A Tribe's plans begin with its enterprises.
create function sample.write_plan(key bigint, entity_type text) returns text immutable
return case entity_type when 'tribal' then sample.pick('tribal plan', key) || ' ' else '' end
  || sample.compose(sample.list('plan'), key, least(21500, sample.skewed(sample.draw(key, 'plan length'), 420, 0.48)));

-- Long texts arrived in pieces, so a few are split into rows with the same key.
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

create view sample.corrective_action_plans as
table sample.findings_text;

-- Each note repeats the policies of its report.
create view sample.notes_to_sefa as
select
  submissions.id,
  note as number,
  (sample.list('note titles'))[kind] as title,
  sample.fill(sample.compose(sample.list('policies'), key, sample.skewed(sample.draw(key, 'policies'), 500, 0.38)),
    key, short_name, year, program, listing, 'A') as accounting_policies,
  rate as is_minimis_rate_used,
  rates.items[1] as rate_explained,
  sample.fill(sample.compose(notes.items, note_key, least(18500, sample.skewed(sample.draw(note_key, 'length'), 360, 0.38))),
    note_key, short_name, year, program, listing, 'B') as content,
  case when is_migrated then 'GSA_MIGRATION' when sample.draw(note_key, 'chart') < 0.03 then 'Y' else 'N' end
    as contains_chart_or_table
from sample.submissions
join sample.auditees using (auditee)
join sample.awards as award on award.id = submissions.id and award.number = 1
cross join lateral (
  select
    federal_agency_prefix || '.' || federal_award_extension as listing,
    case when is_migrated and sample.draw(key, 'rate known') < 0.15 then 'GSA_MIGRATION' else sample.pick('rates', key) end
      as rate,
    (array[1, 1, 1, 1, 2, 2, 2, 3, 3, 4])[sample.whole(key, 'notes', 1, 10)] as note_count
) as drawn
cross join lateral generate_series(1, note_count) as note
cross join lateral sample.child(key, 4000000000 + note) as note_key
cross join lateral (select 1 + (sample.whole(key, 'first note', 0, 5) + note)::int % 6 as kind) as topic
join sample.lists as notes on notes.name = 'note ' || kind
join sample.lists as rates on rates.name = 'rate ' || rate;
