-- Compares the value of If-Match or If-None-Match, a list of tags or *, with a tag (RFC 9110, 13.1).
-- W/ is ignored: a proxy that compresses a response weakens its tag, but it still names one data set.
create function request.matches_etag(condition text, etag text, if_absent boolean)
returns boolean
language sql immutable security invoker set search_path = ''
as $$
  select case
    when coalesce(condition, '') = '' then if_absent
    else trim(condition) = '*' and if_absent
      or etag = any (regexp_split_to_array(regexp_replace(trim(condition), '(^|,\s*)W/', '\1', 'g'), '\s*,\s*'))
  end
$$;
comment on function request.matches_etag is 'Whether a conditional header names this ETag. Without the header, returns the argument if_absent.';
grant execute on function request.matches_etag to gateway, api_public, api_tribal;
