-- In UTC, so that a backup is restored alike in every time zone.
create or replace function access.latest_expiry(key_tier text, key_created_at timestamptz)
returns timestamptz
language sql immutable security invoker set search_path = ''
as $$
  select case when key_tier = 'tribal' then (key_created_at at time zone 'UTC' + interval '6 months') at time zone 'UTC' end
$$;
comment on function access.latest_expiry is
  'When a key of this tier expires at the latest; null if it may be valid forever. A key that is issued without an expiry date expires then.';
