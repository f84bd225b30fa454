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
comment on column access.events.subject is
  'The changed table: tiers, tribal_access_agreements, api_keys, or suppressed_reports (releasing a report deletes its row).';
comment on column access.events.subject_id is 'The ID of the changed row, the name of a tier, or the ID of a released report.';

-- No grant to insert: access.record_event() writes the rows.
grant select on access.events to key_operator;
