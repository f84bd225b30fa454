-- Auditees, and the firms that audit them. Auditees 0 to 39 file one report each; every other auditee files three, one a
-- year.

create table sample.auditees as
select
  auditee,
  size,
  drawn.entity_type,
  state_name,
  coalesce(auditee_state, state) as auditee_state,
  coalesce(auditee_city, city) as auditee_city,
  coalesce(auditee_zip, zip || sample.digits(key, 'zip', case when size < 0.4 then 6 else 2 end)) as auditee_zip,
  coalesce(auditee_uei, sample.uei(key)) as auditee_uei,
  coalesce(auditee_ein, sample.digits(key, 'ein', 9)) as auditee_ein,
  coalesce(auditee_name, format(sample.pick('names of ' || drawn.entity_type, key),
    sample.choose(counties, sample.draw(key, 'county')), sample.pick('words', key), state_name, city)) as auditee_name,
  coalesce(year_end_month, (array[12, 12, 9, 3, 8, 4, 5])[sample.whole(key, 'month', 1, 30)], 6) as year_end_month,
  coalesce(last_year, (array[2018, 2019, 2020, 2021, 2022, 2022, 2023, 2023])[sample.whole(key, 'last year', 1, 14)], 2024)
    as last_year,
  sample.pick('short names of ' || drawn.entity_type, key) as short_name
from generate_series(0, 39 + greatest(0, (sample.setting('submissions') - 38) / 3)) as auditee
left join sample.pinned_auditees as pinned using (auditee)
cross join lateral (
  select
    sample.child(sample.setting('seed'), 1000000000 + auditee) as key,
    -- Two sequences that fill the range evenly (R2), so that small samples have the proportions of large ones.
    ((auditee * 0.5698402909980532 + sample.setting('seed') * 0.3) % 1)::double precision as size,
    coalesce(pinned.entity_type, case when auditee >= 40 and (auditee - 40) % 61 = 2 then 'tribal'
      else sample.choose(sample.list('entity types'), (auditee * 0.7548776662466927 + sample.setting('seed') * 0.1) % 1) end)
      as entity_type
) as drawn
join sample.places on state = sample.pick('places', key)
cross join lateral sample.choose(cities, sample.draw(key, 'city')) as city;

-- Firm 0 has the EIN that examples ask for.
create table sample.auditors as
select
  firm,
  concat(sample.pick('last names', key), ', ', sample.pick('last names', sample.child(key, 3)), ' ',
    sample.pick('firm endings', key)) as auditor_firm_name,
  case firm when 0 then '941234567' else sample.digits(key, 'ein', 9) end as auditor_ein,
  cities[1] as auditor_city,
  state as auditor_state,
  zip || sample.digits(key, 'zip', 2) as auditor_zip
from generate_series(0, 159) as firm
cross join lateral sample.child(sample.setting('seed'), 2000000000 + firm) as key
join sample.places on state = sample.pick('places', key);
