-- Functions that compose long texts. The texts are composed when the files are written: before a join, gigabytes of text
-- would go through its hash table.

-- Sentences of about the wanted total length: a run of sentences from a random start, and then all of them repeatedly.
-- In PL/pgSQL, because an SQL function that is not inlined takes twice as long.
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
    -- Six of the eight sections share the length. Each of the other two needs a single sentence, because theirs contradict each other.
    case when title in ('Questioned costs', 'Views of responsible officials') then 0
      else least(27000, sample.skewed(sample.draw(key, 'length'), 1900, 0.5)) / 6 end),
    sample.choose(array[E'\n', E'\n\n', ' ', E'\r\n'], sample.draw(key, 'separators')) order by section)
  from unnest(sample.list('finding titles')) with ordinality as sections (title, section)
  join sample.lists on name = 'finding ' || section
);

-- A Tribe's plans begin with its enterprises.
create function sample.write_plan(key bigint, entity_type text) returns text immutable
return case entity_type when 'tribal' then sample.pick('tribal plan', key) || ' ' else '' end
  || sample.compose(sample.list('plan'), key, least(21500, sample.skewed(sample.draw(key, 'plan length'), 420, 0.48)));
