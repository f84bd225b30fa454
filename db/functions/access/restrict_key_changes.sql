create or replace function access.restrict_key_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  may_change constant text[] := array['label', 'expires_at', 'revoked_at', 'last_used_on'];
  latest_expiry timestamptz;
begin
  if tg_op = 'INSERT' then
    -- The lock makes a revocation of the agreement wait until this key is committed.
    perform from access.agreement_status as agreement
    where agreement.id = new.agreement_id and agreement.status = 'approved'
    for share;
    if not found and new.agreement_id is not null then
      raise exception 'No key can be issued under the agreement %, because it is not approved, has ended or was revoked.', new.agreement_id
        using column = 'agreement_id';
    end if;
    latest_expiry := access.latest_expiry(new.tier, new.created_at);
    if new.expires_at > latest_expiry then
      raise exception 'A % key that is issued now must expire by %.', initcap(new.tier), to_char(latest_expiry at time zone 'UTC', 'YYYY-MM-DD')
        using column = 'expires_at', hint = 'Enter that date or an earlier one, or leave it out.';
    end if;
    new.expires_at := coalesce(new.expires_at, latest_expiry);
  elsif to_jsonb(new) - may_change <> to_jsonb(old) - may_change then
    raise exception 'Only a key''s label, expiry date, revocation and last-used date may change. Issue a new key instead.';
  elsif old.revoked_at is not null and to_jsonb(new) - 'last_used_on' <> to_jsonb(old) - 'last_used_on' then
    raise exception 'The key % is revoked. This cannot be undone, and the key can no longer change. Issue a new key instead.', old.id;
  elsif old.expires_at is not null and coalesce(new.expires_at > old.expires_at, true) then
    raise exception 'A key''s expiry date may be moved earlier, but not later.'
      using hint = 'To renew the key, rotate it.';
  end if;
  return new;
end
$$;
comment on function access.restrict_key_changes is
  'Trigger that refuses a Tribal key without an approved agreement, or one that expires later than access.latest_expiry(). Once a key exists, only its label, expiry date (to an earlier one), revocation and last-used date can change.';

create or replace trigger api_keys_keep
before insert or update on access.api_keys
for each row execute function access.restrict_key_changes();
