create or replace function access.issue_key(
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
  perform access.check_email_address(key_owner_email, 'owner_email');
  if not exists (select from access.tiers where tiers.name = key_tier) then
    raise exception 'There is no tier "%".', key_tier
      using column = 'tier', hint = format('Tiers: %s.', (select string_agg(tiers.name, ', ' order by tiers.name) from access.tiers));
  elsif key_tier = 'tribal' and key_agreement_id is null then
    raise exception 'A Tribal key needs an approved agreement. Enter its ID.' using column = 'agreement_id';
  elsif key_tier <> 'tribal' and key_agreement_id is not null then
    raise exception 'Only Tribal keys are issued under an agreement. Leave the agreement out, or choose the tier tribal.'
      using column = 'agreement_id';
  elsif key_agreement_id is not null and not exists (
    select from access.tribal_access_agreements where tribal_access_agreements.id = key_agreement_id
  ) then
    raise exception 'There is no agreement %.', key_agreement_id using column = 'agreement_id';
  elsif key_expires_at <= now() then
    raise exception 'The expiry date is in the past. Enter a later one.' using column = 'expires_at';
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
    substr(api_key, length(key_tier) + 2, 6), key_expires_at,
    key_agreement_id, key_replaces_id
  )
  returning id into api_key_id;
  return next;
end
$$;
comment on function access.issue_key is
  'Creates a key (its tier, "_", 32 random letters and digits, 8 hex digits of checksum) and returns it. This is the only time the key can be read, because only its SHA-256 is stored. A Tribal key expires at access.latest_expiry(), unless key_expires_at is earlier.';
grant execute on function access.issue_key to key_operator;
