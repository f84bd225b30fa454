create or replace function access.record_event()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  -- The prefix is left out as well, because the prefix of the public demonstration key is the whole key.
  hidden constant text[] := array['key_sha256', 'key_prefix'];
  before constant jsonb := to_jsonb(old) - hidden;
  after constant jsonb := to_jsonb(new) - hidden;
  row_now constant jsonb := coalesce(after, before);
begin
  insert into access.events (database_role, operator, subject, subject_id, action, before, after)
  values (
    session_user, nullif(current_setting('access.operator', true), ''),
    tg_table_name, coalesce(row_now ->> 'id', row_now ->> 'name'), lower(tg_op), before, after
  );
  return null;
end
$$;
comment on function access.record_event is
  'Trigger that writes each change to the log, access.events. It is security definer, so roles that may change keys need no right to write to the log.';

create or replace trigger tiers_record_event
after insert or update or delete on access.tiers
for each row execute function access.record_event();
create or replace trigger tribal_access_agreements_record_event
after insert or update on access.tribal_access_agreements
for each row execute function access.record_event();
create or replace trigger api_keys_record_insert
after insert on access.api_keys
for each row execute function access.record_event();
create or replace trigger api_keys_record_update
after update on access.api_keys
for each row
when (to_jsonb(new) - 'last_used_on' <> to_jsonb(old) - 'last_used_on')
execute function access.record_event();
