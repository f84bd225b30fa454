create or replace function ledger.record_revocation()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_table_name = 'tribal_access_agreements' then
    if new.revoked_at is distinct from old.revoked_at then
      perform ledger.record('agreement revoked', new.id::text, new.revoked_at);
    end if;
    if new.ends_on < coalesce(old.ends_on, 'infinity') then
      perform ledger.record('agreement ends', new.id::text, new.ends_on::timestamp at time zone 'UTC');
    end if;
    return null;
  end if;
  if new.revoked_at is distinct from old.revoked_at then
    perform ledger.record('key revoked', encode(new.key_sha256, 'hex'), new.revoked_at);
  end if;
  if new.expires_at is distinct from old.expires_at then
    perform ledger.record('key expires', encode(new.key_sha256, 'hex'), new.expires_at);
  end if;
  return null;
end
$$;
comment on function ledger.record_revocation is
  'Trigger that records revocations and earlier expiry dates of keys and agreements for the ledger.';

create or replace trigger api_keys_record_revocation
after update of revoked_at, expires_at on access.api_keys
for each row execute function ledger.record_revocation();
create or replace trigger tribal_access_agreements_record_revocation
after update of revoked_at, ends_on on access.tribal_access_agreements
for each row execute function ledger.record_revocation();
