-- The words of each phrase must be next to each other in a text or plan of the finding. Each candidate has the words of an alternative, so
-- words are checked again only if there are several alternatives.
create or replace function publication.write_phrase_conditions(criteria jsonb)
returns text
language sql immutable security invoker set search_path = ''
as $$
  with alternatives as (
    select
      reading.place,
      bool_or(part ? 'pattern' and not (part ->> 'is_excluded')::boolean) as has_phrases,
      bool_or(part ? 'pattern' and (part ->> 'is_excluded')::boolean) as excludes_phrases,
      bool_or(not part ? 'pattern') as has_words
    from jsonb_array_elements(publication.read_words(criteria ->> 'words')) with ordinality as reading (parts, place)
    cross join lateral jsonb_array_elements(reading.parts) as part
    group by reading.place
  ), written as (
    select concat_ws(
      ' and ',
      case
        when alternatives.has_words and count(*) over () > 1 then publication.write_words_condition(array[alternatives.place::integer])
      end,
      case when alternatives.has_phrases then publication.write_phrase_condition(alternatives.place, false) end,
      case when alternatives.excludes_phrases then 'not ' || publication.write_phrase_condition(alternatives.place, true) end
    ) as condition
    from alternatives
    where alternatives.has_phrases or alternatives.excludes_phrases
    union all
    select publication.write_words_condition(array_agg(alternatives.place::integer))
    from alternatives
    where not (alternatives.has_phrases or alternatives.excludes_phrases)
    having count(*) > 0
  )
  select case
    when publication.list_phrases(criteria ->> 'words') is null then 'true'
    else '(' || string_agg('(' || written.condition || ')', ' or ') || ')'
  end
  from written
$$;
comment on function publication.write_phrase_conditions is
  'Returns the condition that a finding among the candidates has each phrase of a search, as SQL that refers to the criteria as $1.';
