-- One-time tokens for a suppressed report's PDF, and the functions that issue, redeem and prune them.
-- Lock level: new tables only.

create table access.settings (
  is_the_one_row boolean primary key default true,
  token_lifetime interval not null default '1 minute',
  token_retention interval not null default '90 days',
  constraint settings_has_one_row check (is_the_one_row),
  -- The service's contract: whoever gets hold of a token later has nothing.
  constraint settings_token_lifetime_is_at_most_a_minute check (token_lifetime > '0' and token_lifetime <= '1 minute'),
  constraint settings_token_retention_is_not_negative check (token_retention >= '0')
);
comment on table access.settings is 'Settings of this schema, in one row.';
comment on column access.settings.token_lifetime is 'How long a new token can be redeemed.';
comment on column access.settings.token_retention is
  'How long to keep a redeemed or expired token before access.prune_access_tokens() removes it.';
insert into access.settings default values;

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

-- No grant: other roles use the functions below, which run with their owner's rights.

create function access.record_download()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into access.downloads (api_key_id, report_id, requested_at, redeemed_at, request_id)
    values (
      new.api_key_id, new.report_id, new.requested_at, new.redeemed_at,
      nullif(current_setting('request.id', true), '')
    )
    returning id into new.download_id;
  else
    update access.downloads set redeemed_at = new.redeemed_at where id = new.download_id;
  end if;
  return new;
end
$$;
comment on function access.record_download is
  'Trigger that records in access.downloads that a token was created or redeemed. If the record cannot be written, the token is not created or redeemed.';

create trigger access_tokens_record_request
before insert on access.access_tokens
for each row execute function access.record_download();
create trigger access_tokens_record_redemption
before update on access.access_tokens
for each row
when (new.redeemed_at is distinct from old.redeemed_at)
execute function access.record_download();

create function access.issue_access_token(
  token_report_id text,
  out access_uuid uuid,
  out expires_at timestamptz
)
language sql volatile security definer set search_path = ''
as $$
  with token as (
    select gen_random_uuid() as access_uuid, now() + settings.token_lifetime as expires_at from access.settings
  ), stored as (
    insert into access.access_tokens (token_sha256, api_key_id, report_id, expires_at)
    select
      sha256(uuid_send(token.access_uuid)),
      current_setting('request.api_key_id')::uuid,
      token_report_id,
      token.expires_at
    from token
  )
  select token.access_uuid, token.expires_at from token
$$;
comment on function access.issue_access_token is
  'Creates a token that can be redeemed once, within access.settings.token_lifetime, for a report''s PDF. Callers must first check that the report exists and that the request''s key may see it.';
grant usage on schema access to api_tribal;
grant execute on function access.issue_access_token to api_tribal;

create function access.redeem_access_token(access_uuid uuid)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  redeemed_report_id text;
begin
  update access.access_tokens
  set redeemed_at = now()
  where token_sha256 = sha256(uuid_send(access_uuid))
    and redeemed_at is null
    and expires_at > clock_timestamp()
    and publication.is_switched_on()
  returning report_id into redeemed_report_id;
  return redeemed_report_id;
end
$$;
comment on function access.redeem_access_token is
  'Redeems a token and returns its report ID, or null if the token is unknown, already used or expired, or if the service is switched off. If calls with the same token coincide, only one gets the report ID.';
grant usage on schema access to report_service;
grant execute on function access.redeem_access_token to report_service;

-- The report service asks storage for the report's file before it redeems the token, without holding a database connection.
create function access.find_report_of_token(access_uuid uuid)
returns text
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select access_tokens.report_id
    from access.access_tokens
    where access_tokens.token_sha256 = sha256(uuid_send(access_uuid))
      and access_tokens.redeemed_at is null
      and access_tokens.expires_at > clock_timestamp()
      and publication.is_switched_on()
  );
end
$$;
comment on function access.find_report_of_token is
  'Returns the report ID of a token, or null if the token is unknown, redeemed or expired, or if the service is switched off. Does not redeem the token: access.redeem_access_token() does, and may still return null.';
grant execute on function access.find_report_of_token to report_service;

create function access.find_request_of_token(access_uuid uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select downloads.request_id
  from access.access_tokens
  join access.downloads on downloads.id = access_tokens.download_id
  where access_tokens.token_sha256 = sha256(uuid_send(access_uuid))
$$;
comment on function access.find_request_of_token is
  'Returns the X-Request-Id of the request that created a token, for the report service''s log; null if either is unknown.';
grant execute on function access.find_request_of_token to report_service;

create function access.prune_access_tokens()
returns bigint
language sql volatile security definer set search_path = ''
as $$
  with pruned as (
    delete from access.access_tokens
    using access.settings
    where coalesce(access_tokens.redeemed_at, access_tokens.expires_at) < now() - settings.token_retention
    returning access_tokens.token_sha256
  )
  select count(*) from pruned
$$;
comment on function access.prune_access_tokens is
  'Removes tokens that were redeemed or expired more than access.settings.token_retention ago, and returns how many. The rows of access.downloads stay. The refresher runs this every hour.';
grant usage on schema access to publisher;
grant execute on function access.prune_access_tokens to publisher;
