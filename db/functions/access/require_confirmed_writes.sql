-- If the replicas that a commit waits for are gone, the commit waits until one returns. No timeout ends this wait, and a
-- cancellation keeps the row.
create or replace function access.require_confirmed_writes()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  standbys constant text := current_setting('synchronous_standby_names');
  -- `ANY 2 (…)`, `FIRST 2 (…)` and `2 (…)` require two replicas, and a list without a number requires one.
  required constant integer := coalesce(substring(standbys from '(\d+)\s*\(')::integer, 1);
  deadline constant timestamptz := clock_timestamp() + interval '2 seconds';
  written pg_lsn;
  attached integer;
  confirmed integer;
begin
  if standbys = '' or current_setting('synchronous_commit') in ('off', 'local') then
    return new;
  end if;
  -- A WAL record that belongs to no transaction, flushed at once. Replicas confirm it within milliseconds.
  written := pg_logical_emit_message(false, 'access.require_confirmed_writes', '', true);
  loop
    -- If the owner of this function may not read the state of replication, the state is null, and every replica counts.
    select
      count(*) filter (where senders.state is null or senders.sync_state in ('sync', 'quorum')),
      count(*) filter (where senders.state is null or senders.sync_state in ('sync', 'quorum') and senders.flush_lsn >= written)
    into attached, confirmed
    from pg_stat_get_wal_senders() as senders;
    if confirmed >= required then
      return new;
    end if;
    if attached < required or clock_timestamp() > deadline then
      perform request.refuse(
        503, 'writes_not_confirmed', 'The service cannot create or redeem tokens now, because no replica confirms writes.',
        null, 'Send the request again in half a minute.'
      );
    end if;
    perform pg_sleep(0.005);
  end loop;
end
$$;
comment on function access.require_confirmed_writes is
  'Trigger that refuses to create or redeem a token unless as many replicas as its commit waits for have confirmed a write just now, within 2 seconds. The request gets 503.';

-- Triggers run in the order of their names, so this one runs before the download is recorded.
create or replace trigger access_tokens_are_replicated
before insert or update on access.access_tokens
for each row execute function access.require_confirmed_writes();
