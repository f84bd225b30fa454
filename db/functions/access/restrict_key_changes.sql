create or replace function access.restrict_key_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  may_change constant text[] := array['label', 'expires_at', 'revoked_at', 'last_used_on'];
begin
  if tg_op = 'INSERT' then
    -- The lock makes a revocation of the agreement wait until this key is committed.
    perform from access.tribal_access_agreements as agreement
    where agreement.id = new.agreement_id and agreement.decision = 'approved' and agreement.revoked_at is null
    for share;
    if not found and new.agreement_id is not null then
      raise exception 'No key can be issued under the agreement %, because it is not approved or was revoked.', new.agreement_id;
    end if;
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
  'Trigger that refuses a Tribal key without an approved agreement. Once a key exists, only its label, expiry date (to an earlier one), revocation and last-used date can change.';

create or replace trigger api_keys_keep
before insert or update on access.api_keys
for each row execute function access.restrict_key_changes();
