-- PostgreSQL's English dictionary treats a word's plural and most endings alike, but not these words, which auditors use for each other. A
-- word counts as one of them in any form that has the same stem. Words in quotation marks or with a minus stay as they are.
--
-- "or" separates alternatives, as in websearch_to_tsquery(). A phrase of two or more words has a pattern, because the index of words has
-- no positions, and parsing thousands of texts again takes seconds.
create or replace function publication.read_words(words text)
returns jsonb
language sql immutable strict security invoker set search_path = ''
as $$
  with alike (forms) as (
    values
      (array['accrual', 'accrued']),
      (array['certification', 'certified']),
      (array['compliance', 'complied', 'compliant']),
      (array['exclusion', 'excluded']),
      (array['expenditure', 'expended', 'expense']),
      (array['justification', 'justified']),
      (array['maintenance', 'maintained']),
      (array['modification', 'modified']),
      (array['notification', 'notified']),
      (array['omission', 'omitted']),
      (array['overpayment', 'overpaid']),
      (array['payment', 'paid']),
      (array['reconciliation', 'reconciled']),
      (array['recovery', 'recovered']),
      (array['retention', 'retained']),
      (array['segregation', 'separation']),
      (array['submission', 'submitted']),
      (array['suspension', 'suspended']),
      (array['underpayment', 'underpaid']),
      (array['verification', 'verified'])
  ), stems as materialized (
    select alike.forms, plainto_tsquery('pg_catalog.english', form) as stem
    from alike
    cross join unnest(alike.forms) as form
  ), written as (
    select
      found.place,
      found.parts[1] = '-' as is_excluded,
      found.parts[2] as quoted,
      found.parts[3] as word,
      coalesce(found.parts[1] = '' and lower(found.parts[3]) = 'or', false) as is_or
    from regexp_matches("left"(words, 200), '(-?)(?:["“”]([^"“”]*)["“”]|([^\s"“”]+))|["“”]', 'g') with ordinality as found (parts, place)
  ), placed as (
    select written.*, count(*) filter (where written.is_or) over (order by written.place) as alternative from written
  ), parts as (
    select
      placed.alternative,
      min(placed.place) as place,
      spelled.forms,
      placed.is_excluded,
      case when split.words like '% %' then '\m' || replace(split.words, ' ', '[^[:alnum:]]+') || '\M' end as pattern,
      numnode(plainto_tsquery('pg_catalog.english', spelled.forms[1])) > 0 as has_words
    from placed
    cross join lateral (
      select coalesce(
        (
          select stems.forms
          from stems
          where not placed.is_excluded and stems.stem = plainto_tsquery('pg_catalog.english', placed.word)
        ),
        array[coalesce(placed.quoted, placed.word)]
      ) as forms
    ) as spelled
    cross join lateral (select trim(extensions.split_name(placed.quoted)) as words) as split
    where not placed.is_or and coalesce(placed.quoted, placed.word) <> ''
    group by placed.alternative, spelled.forms, placed.is_excluded, split.words
  ), alternatives as (
    select
      parts.alternative,
      jsonb_agg(
        jsonb_strip_nulls(jsonb_build_object('forms', parts.forms, 'is_excluded', parts.is_excluded, 'pattern', parts.pattern))
        order by parts.place
      ) as parts
    from parts
    where parts.has_words or parts.pattern is not null
    group by parts.alternative
    -- A search for texts that lack a word would read all texts.
    having bool_or(parts.has_words and not parts.is_excluded)
  )
  select coalesce(jsonb_agg(alternatives.parts order by alternatives.alternative), '[]') from alternatives
$$;
comment on function publication.read_words is
  'Reads a search for words. Returns alternatives, of which a text must match one. A text matches all parts of an alternative: it has one of the words "forms" (suspension, suspended), or none if is_excluded. Of a phrase, "pattern" is a regular expression.';
