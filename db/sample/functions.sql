-- Functions that draw the sample's rows.
--
-- Every draw is a hash of a key and a purpose. The same seed therefore gives the same rows, and a smaller sample is the
-- beginning of a larger one.

create function sample.setting(name text) returns bigint stable
return current_setting('sample.' || name)::bigint;

-- Each item appears in its list once per slot.
create table sample.lists as
select list as name, array_agg(item order by place, item) as items
from (
  select list, slots, item, place from sample.words
  union all
  select 'places', slots, state, null from sample.places
  union all
  select 'programs', slots, program, null from sample.programs
  union all
  select 'entity types', slots, entity_type, null from sample.entity_types
) as listed
cross join lateral generate_series(1, slots)
group by list;

-- The key of a child, such as award 3 of a submission.
create function sample.child(key bigint, number bigint) returns bigint immutable
return hashint8extended(number, key);

-- A number from 0 to 1 (exclusive).
create function sample.draw(key bigint, purpose text) returns double precision immutable
return (hashtextextended(purpose, key) & 4503599627370495) / 4503599627370496.0::double precision;

-- A whole number; both ends are included.
create function sample.whole(key bigint, purpose text, low bigint, high bigint) returns bigint immutable
return low + floor(sample.draw(key, purpose) * (high - low + 1))::bigint;

create function sample.digits(key bigint, purpose text, length int) returns text immutable
return lpad(sample.whole(key, purpose, 0, (10 ^ length)::bigint - 1)::text, length, '0');

-- The log-logistic distribution. It fits amounts, counts and lengths of real submissions, and has a simple quantile
-- function.
create function sample.skewed(draw double precision, median double precision, spread double precision)
returns double precision immutable
return median * power(draw / (1 - draw), spread);

-- Immutable, although it reads a table, so that the planner looks a list up once for a query.
create function sample.list(name text) returns text[] immutable
return (select items from sample.lists where lists.name = list.name);

create function sample.choose(items text[], draw double precision) returns text immutable
return items[1 + floor(draw * cardinality(items))::int];

create function sample.pick(list text, key bigint) returns text immutable
return sample.choose(sample.list(list), sample.draw(key, list));

create function sample.yes_no(value boolean) returns text immutable
return case when value then 'Yes' else 'No' end;

-- Twelve characters without I and O, as a UEI has.
create function sample.uei(key bigint) returns text immutable
return translate(upper(lpad(to_hex(sample.whole(key, 'uei', 0, 281474976710655)), 12, '0')), '0123456789ABCDEF',
  'ACEGJLNQSUWY3579');
