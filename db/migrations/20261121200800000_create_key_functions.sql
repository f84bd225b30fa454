-- Functions that find, issue, rotate, revoke and verify API keys, and record their use. They are security definer, so that
-- key_operator cannot read hashes or write rows in any other way.
-- Lock level: none.

create function access.resolve_key(reference text)
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

create function access.issue_key(
  key_tier text,
  key_owner_email text,
  key_label text default '',
  key_expires_at timestamptz default null,
  key_agreement_id uuid default null,
  key_replaces_id uuid default null
) returns table (api_key_id uuid, api_key text)
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform access.check_email_address(key_owner_email);
  if not exists (select from access.tiers where tiers.name = key_tier) then
    raise exception 'There is no tier "%".', key_tier
      using hint = format('Tiers: %s.', (select string_agg(tiers.name, ', ' order by tiers.name) from access.tiers));
  elsif key_tier = 'tribal' and key_agreement_id is null then
    raise exception 'A Tribal key needs an approved agreement. Enter its ID.';
  elsif key_tier <> 'tribal' and key_agreement_id is not null then
    raise exception 'Only Tribal keys are issued under an agreement. Leave the agreement out, or choose the tier tribal.';
  elsif key_agreement_id is not null and not exists (
    select from access.tribal_access_agreements where tribal_access_agreements.id = key_agreement_id
  ) then
    raise exception 'There is no agreement %.', key_agreement_id;
  elsif key_expires_at <= now() then
    raise exception 'The expiry date is in the past. Enter a later one.';
  end if;
  -- The tier lets the gateway choose the key's limits. 32 random letters and digits are 190 bits; two random UUIDs carry
  -- 244. With the checksum, the gateway refuses a mistyped key without asking the database.
  api_key := key_tier || '_' || left(
    translate(encode(sha512(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 'base64'), E'+/=\n', ''), 32
  );
  api_key := api_key || left(encode(sha256(convert_to(api_key, 'UTF8')), 'hex'), 8);
  insert into access.api_keys
    (tier, owner_email, label, key_sha256, key_prefix, expires_at, agreement_id, replaces_id)
  values (
    key_tier, key_owner_email, key_label, sha256(convert_to(api_key, 'UTF8')),
    substr(api_key, length(key_tier) + 2, 6),
    coalesce(key_expires_at, case when key_tier = 'tribal' then now() + interval '6 months' end),
    key_agreement_id, key_replaces_id
  )
  returning id into api_key_id;
  return next;
end
$$;
comment on function access.issue_key is
  'Creates a key (its tier, "_", 32 random letters and digits, 8 hex digits of checksum) and returns it. This is the only time the key can be read, because only its SHA-256 is stored. A Tribal key expires after 6 months unless key_expires_at is set.';

create function access.rotate_key(
  old_key_id uuid,
  overlap interval default '7 days',
  key_expires_at timestamptz default null
) returns table (api_key_id uuid, api_key text)
language plpgsql volatile security definer set search_path = ''
as $$
declare
  old_key access.api_keys;
  old_status text;
  successor_id uuid;
begin
  select * into old_key from access.api_keys where api_keys.id = old_key_id for no key update;
  if not found then
    raise exception 'There is no key %.', old_key_id;
  end if;
  select key_overview.status into old_status from access.key_overview where key_overview.id = old_key_id;
  if old_status <> 'active' then
    raise exception 'The key % cannot be rotated, because it is not active (%).', old_key_id, old_status
      using hint = 'Issue a new key.';
  elsif coalesce(overlap < interval '0', true) then
    raise exception 'The overlap cannot be negative.';
  end if;
  select key_overview.id into successor_id
  from access.key_overview
  where key_overview.replaces_id = old_key_id and key_overview.status = 'active';
  if found then
    raise exception 'The key % was already rotated. The key % replaces it.', old_key_id, successor_id
      using hint = 'If the new key was lost, revoke it and rotate the old one again.';
  end if;
  select issued.api_key_id, issued.api_key into api_key_id, api_key
  from access.issue_key(
    old_key.tier, old_key.owner_email, old_key.label,
    -- The new key is valid for as long as the old one was. issue_key() sets the expiry date of a Tribal key.
    coalesce(key_expires_at, case when old_key.tier <> 'tribal' then now() + (old_key.expires_at - old_key.created_at) end),
    old_key.agreement_id, old_key.id
  ) as issued;
  update access.api_keys
  set expires_at = least(expires_at, now() + overlap)
  where id = old_key_id;
  return next;
end
$$;
comment on function access.rotate_key is
  'Creates a key that replaces an active one, with the same tier, owner, label and agreement. The old key keeps working during the overlap, or until it expires if that is sooner.';

create function access.revoke_key(key_id uuid)
returns timestamptz
language plpgsql volatile security definer set search_path = ''
as $$
declare
  since timestamptz;
begin
  update access.api_keys set revoked_at = now() where id = key_id and revoked_at is null;
  select api_keys.revoked_at into since from access.api_keys where api_keys.id = key_id;
  if not found then
    raise exception 'There is no key %.', key_id;
  end if;
  return since;
end
$$;
comment on function access.revoke_key is
  'Revokes a key permanently: every later request with it is refused. Returns the time at which the key was first revoked.';

create function access.verify_key(sha256_of_key bytea)
returns setof access.key_overview
language sql stable security definer set search_path = ''
rows 1
as $$
  select key_overview.*
  from access.api_keys
  join access.key_overview on key_overview.id = api_keys.id
  where api_keys.key_sha256 = sha256_of_key
$$;
comment on function access.verify_key is
  'Returns the overview of the key with this SHA-256, or no row. The key works if its status is active. The parameter is the hash, so that no log contains the key.';

create function access.record_key_use(used_keys uuid[])
returns integer
language sql volatile security definer set search_path = ''
as $$
  with recorded as (
    update access.api_keys
    set last_used_on = (now() at time zone 'UTC')::date
    where id = any (used_keys) and (last_used_on is null or last_used_on < (now() at time zone 'UTC')::date)
    returning id
  )
  select count(*)::integer from recorded
$$;
comment on function access.record_key_use is
  'Records that these keys were used today (UTC), and returns how many of them it updated. API requests run in read-only transactions, so request.decide() sends the key''s ID as a notification (api_key_used). The report service receives it and calls this function.';
grant execute on function access.record_key_use to report_service;
grant execute on function
  access.resolve_key, access.issue_key, access.rotate_key, access.revoke_key, access.verify_key
to key_operator;
