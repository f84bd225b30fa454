-- Auditees, and the firms that audit them. The first 40 auditees file one report each; every other one files three, one a
-- year.

create table sample.places as
select
  place.*,
  (sum(weight) over (order by state) - weight) / sum(weight) over () as share_from,
  sum(weight) over (order by state) / sum(weight) over () as share_to
from sample.vocabulary,
  jsonb_to_recordset(vocabulary.value) as place
    (state text, name text, weight double precision, zip text, cities text[], counties text[])
where vocabulary.key = 'places';

create table sample.pinned_auditees as
select pinned.*
from sample.vocabulary,
  jsonb_to_recordset(vocabulary.value) as pinned
    (number int, entity_type text, name text, uei text, ein text, city text, state text, zip text,
     year_end_month int, last_year int)
where vocabulary.key = 'pinned_auditees';

create table sample.auditees as (
with drawn as (
  select
    number,
    sample.child(sample.setting('seed'), 1000000000 + number) as key,
    -- Two sequences that fill the range evenly (R2), so that small samples have the proportions of large ones.
    (sample.draw(sample.setting('seed'), 'kind')::numeric + number * 0.7548776662466927) % 1 as kind,
    (sample.draw(sample.setting('seed'), 'size')::numeric + number * 0.5698402909980532) % 1 as size
  from generate_series(0, 39 + greatest(0, (sample.setting('submissions') - 38) / 3)) as number
),
typed as (
  select
    drawn.number,
    drawn.key,
    drawn.size::double precision,
    sample.draw(drawn.key, 'place') as place,
    coalesce(pinned.entity_type, case
      when drawn.number >= 40 and (drawn.number - 40) % 61 = 2 then 'tribal'
      when drawn.kind < 0.447 then 'local'
      when drawn.kind < 0.833 then 'non-profit'
      when drawn.kind < 0.965 then 'higher-ed'
      when drawn.kind < 0.996 then 'state'
      else 'unknown'
    end) as entity_type
  from drawn
  left join sample.pinned_auditees as pinned on pinned.number = drawn.number
),
placed as (
  select
    typed.*,
    places.name as state_name,
    coalesce(pinned.state, places.state) as state,
    coalesce(pinned.city, sample.choose(places.cities, sample.draw(typed.key, 'city'))) as city,
    coalesce(pinned.zip, sample.zip(typed.key, places.zip)) as zip,
    coalesce(pinned.uei, sample.uei(typed.key)) as uei,
    coalesce(pinned.ein, sample.digits(typed.key, 'ein', 9)) as ein,
    coalesce(pinned.name, replace(replace(replace(replace(
      sample.pick(
        case when places.state = 'PR' and typed.entity_type in ('local', 'non-profit') then 'names in Puerto Rico'
          else 'names of ' || typed.entity_type end,
        typed.key
      ),
      '{county}', sample.choose(places.counties, sample.draw(typed.key, 'county'))),
      '{word}', sample.pick('words', typed.key)),
      '{state}', places.name),
      '{place}', sample.choose(places.cities, sample.draw(typed.key, 'city')))) as name,
    coalesce(pinned.year_end_month, case when typed.number < 40 then 6 end,
      (array[12, 12, 9, 3, 8, 4, 5])[1 + floor(sample.draw(typed.key, 'month') * 30)::int], 6) as year_end_month,
    coalesce(pinned.last_year, (array[2018, 2019, 2020, 2021, 2022, 2022, 2023, 2023, 2023])
      [1 + floor(sample.draw(typed.key, 'last year') * 15)::int], 2024) as last_year
  from typed
  join sample.places on typed.place >= places.share_from and typed.place < places.share_to
  left join sample.pinned_auditees as pinned on pinned.number = typed.number
)
select
  placed.*,
  sample.pick('short names of ' || entity_type, key) as short_name,
  sample.whole(key, 'house number', 1, 9900) || ' ' || sample.pick('streets', key) as address,
  sample.child(key, 1) as contact,
  sample.child(key, 2) as certifier
from placed
order by number
);

-- Firm 0 has the EIN that examples ask for.
create table sample.auditors as
select
  number,
  case when sample.draw(key, 'case') < 0.4 then upper(firm) else firm end as firm,
  case number when 0 then '941234567' else sample.digits(key, 'ein', 9) end as ein,
  sample.whole(key, 'house number', 1, 9900) || ' ' || sample.pick('streets', key) as address,
  sample.choose(places.cities, sample.draw(key, 'city')) as city,
  places.state,
  sample.zip(key, places.zip) as zip,
  sample.child(key, 1) as contact,
  sample.child(key, 2) as certifier
from generate_series(0, 159) as number
cross join lateral (select sample.child(sample.setting('seed'), 2000000000 + number) as key) as keyed
cross join lateral concat(sample.pick('last names', key), ', ', sample.pick('last names', sample.child(key, 3)), ' ',
  sample.pick('firm endings', key)) as firm
join sample.places on sample.draw(key, 'place') >= share_from and sample.draw(key, 'place') < share_to;
