-- Each note repeats the policies of its report.
create view sample.notes_to_sefa as
select
  submissions.id,
  note as number,
  (sample.list('note titles'))[kind] as title,
  sample.fill(sample.compose(sample.list('note 1'), key, sample.skewed(sample.draw(key, 'policies'), 500, 0.38)),
    key, short_name, year, program, listing, 'A') as accounting_policies,
  rate as is_minimis_rate_used,
  case rate
    when 'Y' then 'The auditee used the de minimis cost rate.'
    when 'N' then 'The auditee did not use the de minimis cost rate.'
    when 'Both' then 'Some awards use the 10% de minimis rate; others a rate negotiated with the cognizant agency.'
    else rate
  end as rate_explained,
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
join sample.lists as notes on notes.name = 'note ' || kind;
