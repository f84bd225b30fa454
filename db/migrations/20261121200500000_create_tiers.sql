-- What a key is worth: what it sees, and how often it may ask.
-- Lock level: new tables only.

create table access.tiers (
  name text primary key,
  database_role text not null,
  requests_per_hour integer,
  requests_per_day integer,
  limited_by text not null,
  statement_timeout interval not null,
  constraint tiers_database_role_is_served check (database_role in ('api_public', 'api_tribal')),
  -- The rules for Tribal keys (an agreement, an end) go by the tier's name.
  constraint tiers_only_tribal_sees_suppressed check ((name = 'tribal') = (database_role = 'api_tribal')),
  constraint tiers_limited_by_is_known check (limited_by in ('address', 'key')),
  constraint tiers_limits_are_positive check (requests_per_hour > 0 and requests_per_day > 0),
  constraint tiers_have_a_limit check (num_nonnulls(requests_per_hour, requests_per_day) > 0)
);

-- Kong's rate-limiting counts an address once for all consumers that are limited by address (the consumer
-- is not part of the counter's key), so a second such tier would share the first one's counter.
create unique index tiers_one_is_limited_by_address on access.tiers (limited_by) where limited_by = 'address';

comment on table access.tiers is 'What a key is worth: the database role it becomes and its limits.';
comment on column access.tiers.database_role is 'Role that request.authorize() switches to.';
comment on column access.tiers.requests_per_hour is 'Requests a calendar hour (UTC); null is no limit.';
comment on column access.tiers.requests_per_day is 'Requests a calendar day (UTC); null is no limit.';
comment on column access.tiers.limited_by is
  'What is counted: the client''s address or the key. One tier only may be limited by address: Kong counts an address once for all of them.';
comment on column access.tiers.statement_timeout is 'Longest time one query of this tier may take.';

-- The publisher asks as each of these roles what it is about to publish (db/data_set/leak_gate.sql).
grant usage on schema access to publisher;
grant select (name, database_role) on access.tiers to publisher;

-- No grant: others see a tier in access.active_keys or by functions of its owner.

create trigger tiers_record_event
after insert or update or delete on access.tiers
for each row execute function access.record_event();
create trigger tiers_notify_change
after insert or update or delete or truncate on access.tiers
for each statement execute function access.notify_change();

insert into access.tiers
  (name, database_role, requests_per_hour, requests_per_day, limited_by, statement_timeout)
values
  ('demo', 'api_public', 30, 50, 'address', '10 s'),
  ('individual', 'api_public', 1000, null, 'key', '60 s'),
  ('tribal', 'api_tribal', 1000, null, 'key', '60 s');
