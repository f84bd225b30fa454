-- Run this after the backup when you restore (docs/operations.md). The backup has no data set, so requests get 503 until you
-- publish one, even if this database had one: it was built without the backup's suppressed_reports.
select publication.withdraw_data_sets();
-- A backup without the ledger's tables needs --continue-ledger PLACE.
insert into ledger.claim default values on conflict do nothing;
-- It also lacks the entries, which the ledger must get.
select ledger.record('report suppressed', report_id, suppressed_since) from publication.suppressed_reports;
select ledger.record('key revoked', encode(key_sha256, 'hex'), revoked_at) from access.api_keys where revoked_at is not null;
select ledger.record('agreement revoked', id::text, revoked_at) from access.tribal_access_agreements where revoked_at is not null;
-- The next deployment must compare the API with the promises that the backup contains, and must not take the backup's tiers
-- for changes made by hand.
update deployment.api_schemas set sha256 = '', fingerprint = '{}';

set constraints all immediate;
do $$
declare
  durable regclass;
begin
  for durable in
    select pg_class.oid from pg_catalog.pg_class
    where pg_class.relkind = 'r'
      and pg_class.relnamespace in ('access'::regnamespace, 'publication'::regnamespace, 'ledger'::regnamespace)
  loop
    execute format('alter table %s enable trigger user', durable);
  end loop;
end
$$;

-- A backup of an older release may contain keys that expire later than their tier allows now.
update access.api_keys
set expires_at = access.latest_expiry(api_keys.tier, api_keys.created_at)
where api_keys.revoked_at is null and api_keys.expires_at > access.latest_expiry(api_keys.tier, api_keys.created_at);
