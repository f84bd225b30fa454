-- What the sample's rows are drawn with, and the words they are made of. scripts/sample/write-sample.ts runs the files of
-- this folder in one transaction, which it rolls back, so nothing of it stays in a database.
--
-- Every draw is a hash of a key and a purpose. The same seed therefore gives the same rows, and a smaller sample is the
-- beginning of a larger one.

create schema sample;

-- vocabulary.json: words, places, programs, and what is fixed about some submissions so that examples can name them.
create table sample.vocabulary as
select key, value from jsonb_each(current_setting('sample.vocabulary')::jsonb);

create table sample.lists as
select list.key as name, array(select jsonb_array_elements_text(list.value)) as items
from sample.vocabulary, jsonb_each(vocabulary.value) as list
where vocabulary.key = 'lists';

create function sample.setting(name text) returns bigint
language sql stable parallel safe
return current_setting('sample.' || name)::bigint;

-- A key of something that belongs to something else, such as award 3 of a submission.
create function sample.child(key bigint, number bigint) returns bigint
language sql immutable parallel safe
return hashint8extended(number, key);

-- A number from 0 to 1 (exclusive).
create function sample.draw(key bigint, purpose text) returns double precision
language sql immutable parallel safe
return (hashtextextended(purpose, key) & 4503599627370495) / 4503599627370496.0::double precision;

-- A whole number; both ends are included.
create function sample.whole(key bigint, purpose text, low bigint, high bigint) returns bigint
language sql immutable parallel safe
return low + floor(sample.draw(key, purpose) * (high - low + 1))::bigint;

create function sample.digits(key bigint, purpose text, length int) returns text
language sql immutable parallel safe
return lpad(sample.whole(key, purpose, 0, (10 ^ length)::bigint - 1)::text, length, '0');

-- The log-logistic distribution. It fits amounts, counts and lengths of real submissions, and has a simple quantile
-- function.
create function sample.skewed(draw double precision, median double precision, spread double precision)
returns double precision
language sql immutable parallel safe
return median * power(draw / (1 - draw), spread);

-- Immutable, although it reads a table, so that the planner looks a list up once for a query.
create function sample.list(name text) returns text[]
language sql immutable parallel safe
return (select items from sample.lists where lists.name = list.name);

create function sample.choose(items text[], draw double precision) returns text
language sql immutable parallel safe
return items[1 + floor(draw * cardinality(items))::int];

create function sample.pick(list text, key bigint) returns text
language sql immutable parallel safe
return sample.choose(sample.list(list), sample.draw(key, list));

create function sample.yes_no(value boolean) returns text
language sql immutable parallel safe
return case when value then 'Yes' else 'No' end;

-- People do not exist: their mail goes to a reserved domain, and their telephone numbers are fictional (555-01xx).
create function sample.person(key bigint) returns text
language sql immutable parallel safe
return sample.pick('first names', key) || ' ' || sample.pick('last names', key);

create function sample.slug(name text) returns text
language sql immutable parallel safe
return lower(regexp_replace(normalize(name, nfd), '[^A-Za-z0-9]', '', 'g'));

create function sample.email(key bigint, organization text) returns text
language sql immutable parallel safe
return sample.slug(sample.pick('first names', key)) || '.' || sample.slug(sample.pick('last names', key))
  || '@' || left(sample.slug(organization), 24) || '.example.org';

create function sample.phone(key bigint) returns text
language sql immutable parallel safe
return sample.whole(key, 'area code', 200, 999) || '55501' || sample.digits(key, 'phone', 2);

create function sample.zip(key bigint, prefix text) returns text
language sql immutable parallel safe
return prefix || sample.digits(key, 'zip', case when sample.draw(key, 'long zip') < 0.4 then 6 else 2 end);

-- Twelve characters without I and O, as a UEI has.
create function sample.uei(key bigint) returns text
language sql immutable parallel safe
return (
  select string_agg(substr('ABCDEFGHJKLMNPQRSTUVWXYZ123456789', sample.whole(key, 'uei' || n, 1, 33)::int, 1), '')
  from generate_series(1, 12) as n
);

-- Sentences of a list, from any one on and over again, until they have about the wanted length.
create function sample.compose(sentences text[], length double precision) returns text
language sql immutable parallel safe
return (
  select repeat(every || ' ', floor(length / length(every))::int)
    || array_to_string(sentences[1:1 + floor((length / length(every) - floor(length / length(every))) * cardinality(sentences))::int], ' ')
  from array_to_string(sentences, ' ') as every
);

create function sample.compose(list text, key bigint, length double precision) returns text
language sql immutable parallel safe
return (
  select sample.compose(sentences[first:] || sentences[:first - 1], length)
  from sample.list(list) as sentences
  cross join lateral (select 1 + floor(sample.draw(key, list) * cardinality(sentences))::int as first) as chosen
);

-- Fills the slots of a text about an award.
create function sample.fill(
  text text, key bigint, short_name text, audit_year int, program text, number text, requirement text
) returns text
language sql immutable parallel safe
begin atomic
  select replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(text,
    '{auditee}', short_name),
    '{program}', program),
    '{number}', 'Assistance Listing No. ' || number),
    '{year}', audit_year::text),
    '{prior}', (audit_year - sample.whole(key, 'prior', 2, 9))::text),
    '{n}', sample.whole(key, 'n', 1, 9)::text),
    '{m}', sample.whole(key, 'm', 15, 90)::text),
    '{dollars}', to_char(sample.whole(key, 'dollars', 1100, 2400000), 'FM$9,999,999')),
    '{title}', sample.pick('auditee titles', key)),
    '{area}', (sample.list('requirements'))[strpos('ABCEFGHIJLMNP', left(requirement, 1))]);
end;
