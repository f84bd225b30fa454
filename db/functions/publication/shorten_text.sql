create or replace function publication.shorten_text(document text, longest integer)
returns text
language sql immutable strict security invoker set search_path = ''
as $$
  select case
    when length(document) <= longest then document
    else "left"(document, longest) || format(
      ' [… Only the first %s of %s characters are shown. The API has the whole text.]',
      to_char(longest, 'FM999,999,999'), to_char(length(document), 'FM999,999,999')
    )
  end
$$;
comment on function publication.shorten_text is
  'Returns a text. If it is too long, returns its beginning and a note that it was cut.';
