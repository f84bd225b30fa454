-- Auditees, and the firms that audit them. Auditees 0 to 39 file one report each; every other auditee files three, one a
-- year.

-- A place has as many of the slots 0 to 999 as its share of reports.
create table sample.places as
select row_number() over (order by place.state, slot) - 1 as slot, place.*
from jsonb_to_recordset(sample.read('places')) as place
  (state text, name text, zip text, cities text[], counties text[], slots int)
cross join lateral generate_series(1, slots) as slot;

create table sample.pinned_auditees as
select *
from jsonb_to_recordset(sample.read('pinned_auditees')) as pinned
  (number int, entity_type text, name text, uei text, ein text, city text, state text, zip text,
   year_end_month int, last_year int);

create table sample.auditees as (
with drawn as (
  select
    number,
    sample.child(sample.setting('seed'), 1000000000 + number) as key,
    -- Two sequences that fill the range evenly (R2), so that small samples have the proportions of large ones.
    (number * 0.7548776662466927 + sample.setting('seed') * 0.1) % 1 as kind,
    ((number * 0.5698402909980532 + sample.setting('seed') * 0.3) % 1)::double precision as size
  from generate_series(0, 39 + greatest(0, (sample.setting('submissions') - 38) / 3)) as number
),
typed as (
  select
    drawn.*,
    case
      when number >= 40 and (number - 40) % 61 = 2 then 'tribal'
      when kind < 0.447 then 'local'
      when kind < 0.833 then 'non-profit'
      when kind < 0.965 then 'higher-ed'
      when kind < 0.996 then 'state'
      else 'unknown'
    end as kind_of_entity
  from drawn
)
select
  typed.number,
  key,
  size,
  coalesce(pinned.entity_type, kind_of_entity) as entity_type,
  places.name as state_name,
  coalesce(pinned.state, places.state) as state,
  coalesce(pinned.city, drawn_city) as city,
  coalesce(pinned.zip, places.zip || sample.digits(key, 'zip', case when size < 0.4 then 6 else 2 end)) as zip,
  coalesce(pinned.uei, sample.uei(key)) as uei,
  coalesce(pinned.ein, sample.digits(key, 'ein', 9)) as ein,
  coalesce(pinned.name, replace(replace(replace(replace(sample.pick('names of ' || kind_of_entity, key),
    '{county}', sample.choose(places.counties, sample.draw(key, 'county'))),
    '{word}', sample.pick('words', key)),
    '{state}', places.name),
    '{place}', drawn_city)) as name,
  coalesce(pinned.year_end_month, (array[12, 12, 9, 3, 8, 4, 5])[sample.whole(key, 'month', 1, 30)], 6) as year_end_month,
  coalesce(pinned.last_year, (array[2018, 2019, 2020, 2021, 2022, 2022, 2023, 2023])[sample.whole(key, 'last year', 1, 14)], 2024)
    as last_year,
  sample.pick('short names of ' || kind_of_entity, key) as short_name
from typed
join sample.places on places.slot = sample.whole(key, 'place', 0, 999)
cross join lateral sample.choose(places.cities, sample.draw(key, 'city')) as drawn_city
left join sample.pinned_auditees as pinned on pinned.number = typed.number
);

-- Firm 0 has the EIN that examples ask for.
create table sample.auditors as
select
  number,
  concat(sample.pick('last names', key), ', ', sample.pick('last names', sample.child(key, 3)), ' ',
    sample.pick('firm endings', key)) as firm,
  case number when 0 then '941234567' else sample.digits(key, 'ein', 9) end as ein,
  cities[1] as city,
  state,
  zip || sample.digits(key, 'zip', 2) as zip
from generate_series(0, 159) as number
cross join lateral sample.child(sample.setting('seed'), 2000000000 + number) as key
join sample.places on places.slot = sample.whole(key, 'place', 0, 999);
