-- What a key is worth: what it sees, and how much of the database it may use. Rate limits are in gateway/kong.yml.
-- Lock level: new tables only.

create table access.tiers (
  name text primary key,
  database_role text not null,
  statement_timeout interval not null,
  requests_at_a_time integer not null default 4,
  limited_by text not null default 'key',
  -- Keys begin with it (access.issue_key).
  constraint tiers_name_can_begin_a_key check (name ~ '^[a-z][a-z0-9]*$'),
  constraint tiers_database_role_is_served check (database_role in ('api_public', 'api_tribal')),
  -- The rules for Tribal keys (an agreement, an end) go by the tier's name.
  constraint tiers_only_tribal_sees_suppressed check ((name = 'tribal') = (database_role = 'api_tribal')),
  -- PostgREST has five connections in docker-compose.yml, elsewhere more: no key, and no address, ever holds all of them.
  constraint tiers_leave_connections_to_others check (requests_at_a_time between 1 and 4),
  constraint tiers_limited_by_is_known check (limited_by in ('address', 'key'))
);

comment on table access.tiers is
  'What a key is worth: the database role it becomes, how long a query may run, and how many may run at a time. Keys begin with the tier''s name, by which the gateway chooses their rate limits (gateway/kong.yml).';
comment on column access.tiers.database_role is 'Role that request.authorize() switches to.';
comment on column access.tiers.statement_timeout is 'Longest time one query of this tier may take.';
comment on column access.tiers.requests_at_a_time is
  'Requests that the database answers at a time, counted as limited_by says; 429 beyond it.';
comment on column access.tiers.limited_by is 'By what requests at a time are counted: the key, or the key and the client''s address.';

-- No grant: others see a tier in request.keys or by functions of its owner.

create trigger tiers_record_event
after insert or update or delete on access.tiers
for each row execute function access.record_event();

insert into access.tiers (name, database_role, statement_timeout, requests_at_a_time, limited_by)
values
  ('demo', 'api_public', '10 s', 3, 'address'),
  ('individual', 'api_public', '60 s', 4, 'key'),
  ('tribal', 'api_tribal', '60 s', 4, 'key');
