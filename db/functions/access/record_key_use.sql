create or replace function access.record_key_use(used_keys bytea[])
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  recorded integer;
begin
  -- The commit waits for no replica. If it is lost, a later request records the day.
  perform set_config('synchronous_commit', 'off', true);
  update access.api_keys
  set last_used_on = (now() at time zone 'UTC')::date
  where key_sha256 = any (used_keys) and (last_used_on is null or last_used_on < (now() at time zone 'UTC')::date);
  get diagnostics recorded = row_count;
  return recorded;
end
$$;
comment on function access.record_key_use is
  'Records that the keys with these SHA-256 were used today (UTC), and returns how many of them it updated. Requests write nothing, so the gateway tells the report service which keys were used, and the report service calls this function.';
grant execute on function access.record_key_use to report_service;
