-- The text loses the characters that mark its words, so that only this function can have written them. ts_headline() would leave
-- out what looks like a tag, so U+0003 stands for "<" meanwhile.
create or replace function publication.excerpt_text(document text, words tsquery, longest integer default 300)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select translate(
    case
      when excerpt is null then "left"(cleaned, longest) || case when length(cleaned) > longest then '…' else '' end
      else case when substr(cleaned, 1, greatest(strpos(cleaned, opening) - 1, 0)) ~ '\w' then '… ' else '' end || excerpt
        || case when length(document) > 30000 or split_part("right"(cleaned, length(closing) + 20), closing, -1) ~ '\w' then ' …' else '' end
    end,
    chr(3), '<'
  )
  from translate("left"(document, greatest(case when words is null then longest + 1 end, 30000)), '<' || chr(1) || chr(2) || chr(3), chr(3)) as cleaned
  left join lateral (
    select excerpt
    from (
      values
        -- Auditors quote the rules first.
        (substr(cleaned, greatest(regexp_instr(cleaned, '\mcondition[^:.]{0,40}:', 1, 1, 0, 'i'), 1)), words),
        (cleaned, words),
        -- If the words are too far apart, ts_headline() marks none.
        (cleaned, case when words::text !~ '!' then replace(words::text, '&', '|')::tsquery else words end)
    ) as attempts (part, query)
    cross join lateral ts_headline(
      'pg_catalog.english', part, query,
      format('StartSel=%s, StopSel=%s, MaxFragments=2, MaxWords=30, MinWords=12, FragmentDelimiter=" … "', chr(1), chr(2))
    ) as excerpt
    where strpos(excerpt, chr(1)) > 0
    limit 1
  ) as headline on true
  cross join lateral translate(excerpt, chr(1) || chr(2), '') as plain
  cross join lateral split_part(plain, ' … ', 1) as opening
  cross join lateral split_part(plain, ' … ', -1) as closing
$$;
comment on function publication.excerpt_text is
  'Returns the parts of a text that have the words, each between U+0001 and U+0002, or without words its beginning. "…" stands for what is left out.';
