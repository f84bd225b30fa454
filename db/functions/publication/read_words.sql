-- PostgreSQL's English dictionary treats a word's plural and most endings alike, but not these words, which auditors use for each other. A
-- word counts as one of them in any form that has the same stem. Words in quotation marks stay as they are.
create or replace function publication.read_words(words text)
returns jsonb
language sql immutable strict security invoker set search_path = ''
as $$
  with alike (place, forms) as (
    values
      (1, array['accrual', 'accrued']),
      (2, array['certification', 'certified']),
      (3, array['compliance', 'complied', 'compliant']),
      (4, array['exclusion', 'excluded']),
      (5, array['expenditure', 'expended', 'expense']),
      (6, array['justification', 'justified']),
      (7, array['maintenance', 'maintained']),
      (8, array['modification', 'modified']),
      (9, array['notification', 'notified']),
      (10, array['omission', 'omitted']),
      (11, array['overpayment', 'overpaid']),
      (12, array['payment', 'paid']),
      (13, array['reconciliation', 'reconciled']),
      (14, array['recovery', 'recovered']),
      (15, array['retention', 'retained']),
      (16, array['segregation', 'separation']),
      (17, array['submission', 'submitted']),
      (18, array['suspension', 'suspended']),
      (19, array['underpayment', 'underpaid']),
      (20, array['verification', 'verified'])
  ), stems as materialized (
    select alike.place, tsvector_to_array(to_tsvector('pg_catalog.english', form)) as stem
    from alike
    cross join unnest(alike.forms) as form
  ), written as (
    select
      found.parts[1] as part,
      found.place,
      (
        select stems.place
        from stems
        where found.parts[1] !~ '["“”]' and stems.stem = tsvector_to_array(to_tsvector('pg_catalog.english', found.parts[1]))
      ) as alike
    from regexp_matches("left"(words, 200), '["“”][^"“”]*["“”]|[^\s"“”]+|["“”]', 'g') with ordinality as found (parts, place)
  ), others as (
    select coalesce(string_agg(written.part, ' ' order by written.place), '') as words from written where written.alike is null
  )
  select jsonb_build_object(
    'all', case when to_tsvector('pg_catalog.english', others.words) <> '' then others.words else '' end,
    'either', (
      select coalesce(jsonb_agg(to_jsonb(alike.forms) order by alike.place), '[]')
      from alike
      where alike.place in (select written.alike from written)
    )
  )
  from others
$$;
comment on function publication.read_words is
  'Reads a search for words. Returns the words that a text must have ("all"), and groups of words of which it must have one each ("either"): suspension, suspended.';
