-- Notes to the schedule of awards. Each repeats the policies. Some migrated reports have a bare note, and a few have none.

create view sample.notes_to_sefa as
select
  submissions.id, note_number as number,
  submissions.report_id, submissions.auditee_uei, submissions.audit_year, submissions.fac_accepted_date,
  case when is_terse then '' else (sample.list('note titles'))[kind] end as title,
  sample.fill(policies, submissions.key, short_name, year, program, program_number, 'A') as accounting_policies,
  case when is_unknown then 'GSA_MIGRATION' else rate end as is_minimis_rate_used,
  case
    when is_unknown then 'GSA_MIGRATION'
    when rate = 'Both' then 'Some awards use the 10% de minimis rate; others a rate negotiated with the cognizant agency.'
    else 'The auditee ' || case rate when 'Y' then 'used' else 'did not use' end || ' the de minimis cost rate.'
  end as rate_explained,
  case when is_terse then '' else sample.fill(
    sample.compose('note ' || kind, note_key, least(18500, sample.skewed(sample.draw(note_key, 'length'), 360, 0.38))),
    note_key, short_name, year, program, program_number, 'B') end as content,
  case when is_terse then '' when is_migrated then 'GSA_MIGRATION' when sample.draw(note_key, 'chart') < 0.03 then 'Y'
    else 'N' end as contains_chart_or_table
from sample.submissions
join sample.auditees on auditees.number = submissions.auditee
cross join lateral (
  select program, federal_agency_prefix || '.' || federal_award_extension as program_number
  from sample.awards
  where awards.id = submissions.id and awards.number = 1
) as award
cross join lateral (
  select
    is_migrated and sample.draw(submissions.key, 'terse') < 0.3 as is_terse,
    is_migrated and sample.draw(submissions.key, 'rate known') < 0.15 as is_unknown,
    sample.choose(array['N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N', 'N',
      'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Y', 'Both'], sample.draw(submissions.key, 'rate')) as rate,
    sample.compose('policies', submissions.key,
      least(30000, sample.skewed(sample.draw(submissions.key, 'policies'), 500, 0.38))) as policies
  offset 0
) as drawn
cross join lateral generate_series(1, case
  when is_terse then case when sample.draw(submissions.key, 'terse') < 0.06 then 0 else 1 end
  else (array[1, 1, 1, 1, 2, 2, 2, 3, 3, 4])[sample.whole(submissions.key, 'notes', 1, 10)]
end) as numbered (note_number)
cross join lateral (
  select
    sample.child(submissions.key, 4000000000 + note_number) as note_key,
    1 + ((sample.whole(submissions.key, 'first note', 0, 5) + note_number) % cardinality(sample.list('note titles')))::int
      as kind
) as note;
