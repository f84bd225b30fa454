-- The audit log: every change to tiers, agreements and keys.
-- Lock level: new tables only.

create table access.events (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  database_role text not null,
  operator text,
  subject text not null,
  subject_id text not null,
  action text not null,
  before jsonb,
  after jsonb,
  constraint events_action_is_known check (action in ('insert', 'update', 'delete'))
);

-- The history of one key or agreement.
create index events_subject on access.events (subject, subject_id, id);

comment on table access.events is
  'Log of changes to tiers, agreements and keys (not last-used dates), and of releases from suppression. It holds no key, key hash or key prefix.';
comment on column access.events.database_role is 'The role that logged in to the database (session_user).';
comment on column access.events.operator is
  'The person who made the change, from the setting access.operator; null if it was not set. The name is not verified.';
comment on column access.events.subject is 'The table: tiers, tribal_access_agreements or api_keys.';
comment on column access.events.subject_id is 'The ID of the changed row, or the name of a tier.';

-- No grant to insert: access.record_event() writes the rows.
grant usage on schema access to key_operator;
grant select on access.events to key_operator;

create trigger events_refuse_removal
before update or delete or truncate on access.events
for each statement execute function access.refuse_removal();

create function access.record_event()
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
