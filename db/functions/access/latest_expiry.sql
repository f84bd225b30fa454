-- Calculates in UTC, so that restoring a backup does not depend on the time zone.
create or replace function access.latest_expiry(key_tier text, key_created_at timestamptz)
returns timestamptz
language sql immutable security invoker set search_path = ''
as $$
  select case when key_tier = 'tribal' then (key_created_at at time zone 'UTC' + interval '6 months') at time zone 'UTC' end
$$;
comment on function access.latest_expiry is
  'The latest expiry date of a key of this tier, which is also the default; null if the tier''s keys need not expire.';
