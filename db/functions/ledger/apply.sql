create or replace function ledger.apply(object_number bigint, object_entries jsonb, takes_releases boolean)
returns integer
language plpgsql volatile security definer
-- While it adds thousands of entries, statistics still say that the table is small.
set search_path = '' set enable_seqscan = off
as $$
declare
  entry record;
  learned integer := 0;
begin
  -- Waits until a running publication has ended. Otherwise, it could make a report public that this suppresses.
  lock table publication.data_sets in share row exclusive mode;
  for entry in
    select
      said.kind,
      said.subject,
      said.takes_effect_at,
      said.recorded_at,
      said.recorded_by
    from jsonb_array_elements(object_entries) with ordinality as line(value, place)
    cross join jsonb_to_record(line.value)
      as said(kind text, subject text, takes_effect_at timestamptz, recorded_at timestamptz, recorded_by text)
    order by line.place
  loop
    -- The database wrote the entry but did not record this, because of a crash or a restore.
    update ledger.entries set object_number = apply.object_number
    where entries.object_number is null
      and entries.subject = entry.subject and entries.kind = entry.kind and entries.takes_effect_at = entry.takes_effect_at;
    continue when found;
    learned := learned + 1;
    continue when entry.kind = 'report released' and not takes_releases;
    -- If the ledger and the database disagree, the report stays suppressed.
    delete from ledger.entries
    where entries.object_number is null and entries.subject = entry.subject and entries.kind = 'report released';
    insert into ledger.entries (kind, subject, takes_effect_at, recorded_at, recorded_by, object_number)
    values (entry.kind, entry.subject, entry.takes_effect_at, entry.recorded_at, entry.recorded_by, apply.object_number);
    case entry.kind
      when 'report suppressed' then
        insert into publication.suppressed_reports (report_id, suppressed_since)
        values (entry.subject, entry.takes_effect_at)
        on conflict do nothing;
      when 'report released' then
        if
          exists (select from publication.suppressed_reports where suppressed_reports.report_id = entry.subject)
          and not exists (
            select from ledger.entries where entries.object_number is null and entries.subject = entry.subject
          )
        then
          perform publication.release_report(entry.subject);
        end if;
      when 'key revoked' then
        update access.api_keys set revoked_at = entry.takes_effect_at
        where api_keys.key_sha256 = decode(entry.subject, 'hex') and api_keys.revoked_at is null;
      when 'key expires' then
        update access.api_keys set expires_at = entry.takes_effect_at
        where api_keys.key_sha256 = decode(entry.subject, 'hex') and api_keys.revoked_at is null
          and (api_keys.expires_at is null or api_keys.expires_at > entry.takes_effect_at);
      when 'agreement revoked' then
        -- It may have been approved again before the database learned this.
        update access.tribal_access_agreements set revoked_at = greatest(entry.takes_effect_at, decided_at)
        where tribal_access_agreements.id = entry.subject::uuid and tribal_access_agreements.decision = 'approved'
          and tribal_access_agreements.revoked_at is null;
      when 'agreement ends' then
        update access.tribal_access_agreements set ends_on = (entry.takes_effect_at at time zone 'UTC')::date
        where tribal_access_agreements.id = entry.subject::uuid and tribal_access_agreements.decision = 'approved'
          and tribal_access_agreements.revoked_at is null
          and coalesce(tribal_access_agreements.ends_on, 'infinity') > (entry.takes_effect_at at time zone 'UTC')::date;
    end case;
  end loop;
  update ledger.claim
  set last_object = greatest(claim.last_object, apply.object_number);
  return learned;
end
$$;
comment on function ledger.apply is
  'Applies the entries of an object of the ledger: [{"kind": …}]. Skips keys and agreements that this database does not have. Returns how many entries it did not know.';
grant execute on function ledger.apply to publisher;
