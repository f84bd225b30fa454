create or replace function access.resolve_key(reference text)
returns uuid
language plpgsql stable security definer set search_path = ''
as $$
declare
  ids uuid[];
begin
  if length(reference) >= 6 then
    select array_agg(api_keys.id) into ids
    from access.api_keys
    where reference in (api_keys.key_prefix, api_keys.tier || '_' || api_keys.key_prefix)
      or starts_with(api_keys.id::text, lower(reference));
  end if;
  if ids is null then
    raise exception 'There is no key "%".', reference
      using hint = 'Enter the key''s ID (at least its first 6 characters), or its prefix from the list of keys.';
  elsif cardinality(ids) > 1 then
    raise exception '"%" matches % keys.', reference, cardinality(ids)
      using hint = 'Enter the full ID.';
  end if;
  return ids[1];
end
$$;
comment on function access.resolve_key is
  'Returns a key''s full ID. Takes the full ID, its first 6 or more characters, or the prefix in access.key_overview, with or without the tier.';
grant execute on function access.resolve_key to key_operator;
