create or replace function publication.shorten_text(document text, longest integer)
returns text
language sql immutable strict security invoker set search_path = ''
as $$
  select case
    when length(document) <= longest then document
    else "left"(document, longest) || format(
      ' [… The first %s of %s characters. The report''s page and the API have the rest.]',
      to_char(longest, 'FM999,999,999'), to_char(length(document), 'FM999,999,999')
    )
  end
$$;
comment on function publication.shorten_text is
  'Returns a text, or the beginning of a longer one, with a sentence that says what is left out.';
