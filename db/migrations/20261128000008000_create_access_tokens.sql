-- One-time tokens for a suppressed report's PDF, a view of those that can be redeemed, and a record of which key requested which PDF.
-- Lock level: new tables only.

create table access.settings (
  is_the_one_row boolean primary key default true,
  token_lifetime interval not null default '1 minute',
  token_retention interval not null default '90 days',
  constraint settings_has_one_row check (is_the_one_row),
  -- A token expires quickly, so that whoever finds it later cannot use it.
  constraint settings_token_lifetime_is_at_most_a_minute check (token_lifetime > '0' and token_lifetime <= '1 minute'),
  constraint settings_token_retention_is_not_negative check (token_retention >= '0')
);

comment on table access.settings is 'Settings of this schema, in one row.';
comment on column access.settings.token_lifetime is 'How long a new token can be redeemed.';
comment on column access.settings.token_retention is
  'How long to keep a redeemed or expired token before access.prune_access_tokens() removes it.';
insert into access.settings default values;
-- A plan shows changes to the row.
grant select on access.settings to deployment_planner;

create table access.downloads (
  id uuid primary key default extensions.uuid_v7(),
  api_key_id uuid not null references access.api_keys (id),
  report_id text not null,
  requested_at timestamptz not null default now(),
  redeemed_at timestamptz,
  request_id text
);

comment on table access.downloads is
  'Which key requested which report''s PDF, and when the token was redeemed. Rows stay when the token is pruned.';
comment on column access.downloads.redeemed_at is 'When the token was redeemed; null if it was not.';
comment on column access.downloads.request_id is
  'X-Request-Id of the request that created the token; null if request.decide() did not accept the ID.';

-- No grant: a trigger of access.access_tokens writes the rows, and only the owner of this schema reads them.

create table access.access_tokens (
  token_sha256 bytea primary key,
  api_key_id uuid not null references access.api_keys (id),
  report_id text not null,
  requested_at timestamptz not null default now(),
  expires_at timestamptz not null,
  redeemed_at timestamptz,
  download_id uuid not null references access.downloads (id),
  constraint access_tokens_token_is_a_sha256 check (octet_length(token_sha256) = 32)
);

comment on table access.access_tokens is
  'One-time tokens for a report''s PDF. Only the SHA-256 of a token is stored.';
comment on column access.access_tokens.download_id is
  'The token''s row in access.downloads, which stays when the token is pruned. A trigger sets this column.';

-- No grant: other roles use functions (db/functions/access), which run with their owner's rights.

create view access.valid_tokens as
select
  access_tokens.token_sha256,
  access_tokens.report_id,
  access_tokens.redeemed_at
from access.access_tokens
where access_tokens.redeemed_at is null
  and access_tokens.expires_at > clock_timestamp()
  and exists (
    select from access.active_keys
    where active_keys.id = access_tokens.api_key_id and active_keys.database_role = 'api_tribal'
  );

comment on view access.valid_tokens is
  'Tokens that can be redeemed: not redeemed, not expired, and issued to a key that still works and has Tribal access.';
-- No grant: the functions that find and redeem a token read and update it with their owner's rights.
