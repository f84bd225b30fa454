-- Tiers: what a key may see, and how much of the database it may use. Rate limits are in gateway/kong.yml.
-- Lock level: new tables only.

create table access.tiers (
  name text primary key,
  database_role text not null,
  statement_timeout interval not null,
  requests_at_a_time integer not null default 4,
  limited_by text not null default 'key',
  -- Keys start with the tier's name (access.issue_key).
  constraint tiers_name_can_begin_a_key check (name ~ '^[a-z][a-z0-9]*$'),
  constraint tiers_database_role_is_served check (database_role in ('api_public', 'api_tribal')),
  -- The tier's name decides which keys need an agreement and an expiry date.
  constraint tiers_only_tribal_sees_suppressed check ((name = 'tribal') = (database_role = 'api_tribal')),
  -- PostgREST has at least five connections (docker-compose.yml), so no key and no address can use all of them.
  constraint tiers_leave_connections_to_others check (requests_at_a_time between 1 and 4),
  constraint tiers_limited_by_is_known check (limited_by in ('address', 'key'))
);

comment on table access.tiers is
  'What a key of each tier may do: its database role, how long a query may run, and how many requests may run at a time. A new key''s text begins with the tier''s name. The gateway uses this name to choose the rate limits (gateway/kong.yml).';
comment on column access.tiers.database_role is 'The role that request.decide() switches to.';
comment on column access.tiers.statement_timeout is 'How long a query may run.';
comment on column access.tiers.requests_at_a_time is
  'How many requests may run at a time for each key or address (limited_by) on each database server. Further requests get 429. The gateway has a limit and a queue of its own (at_a_time in kong.yml).';
comment on column access.tiers.limited_by is
  'Whether the limit on simultaneous requests applies per key (key) or per key and client IP (address).';

-- No other grant: other roles see tiers only in request.keys, or through functions that run with the owner's rights.
-- A plan shows changes to tiers.
grant select on access.tiers to deployment_planner;

insert into access.tiers (name, database_role, statement_timeout, requests_at_a_time, limited_by)
values
  ('demo', 'api_public', '10 s', 3, 'address'),
  ('individual', 'api_public', '60 s', 4, 'key'),
  ('tribal', 'api_tribal', '60 s', 4, 'key');
