-- One-time tokens for a suppressed report's PDF: issued, redeemed, pruned.
-- Lock level: new tables only.

create table access.settings (
  is_the_one_row boolean primary key default true,
  token_retention interval not null default '90 days',
  constraint settings_has_one_row check (is_the_one_row),
  constraint settings_token_retention_is_not_negative check (token_retention >= '0')
);
comment on table access.settings is 'Settings of this schema, in one row.';
comment on column access.settings.token_retention is
  'How long a spent or expired token is kept before access.prune_access_tokens() removes it.';
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
  'One-time tokens for a report''s PDF. A token, like a key, is stored as its SHA-256 only.';
comment on column access.access_tokens.download_id is 'What outlives the token. A trigger sets it.';

-- No grant: tokens are issued, redeemed and pruned by the functions below, with their owner's rights.

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
  'Writes a token''s request and redemption down in access.downloads, in the same transaction: no token is without its record.';

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
    select gen_random_uuid() as access_uuid, now() + interval '1 minute' as expires_at
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
  'Makes a token for one download of a report by the key of this request, valid for 1 minute. The caller has checked that the report exists and that the key may see it.';
grant usage on schema access to api_tribal;
grant execute on function access.issue_access_token to api_tribal;

create function access.redeem_access_token(access_uuid uuid)
returns text
language sql volatile security definer set search_path = ''
as $$
  update access.access_tokens
  set redeemed_at = now()
  where token_sha256 = sha256(uuid_send(access_uuid))
    and redeemed_at is null
    and expires_at > clock_timestamp()
  returning report_id
$$;
comment on function access.redeem_access_token is
  'Spends a token and returns its report ID, or null if it is unknown, spent or expired. Of callers at the same time one gets the report ID.';
grant usage on schema access to report_service;
grant execute on function access.redeem_access_token to report_service;

-- The report service asks storage about a token's report before it spends the token, and holds no connection meanwhile.
create function access.find_report_of_token(access_uuid uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select access_tokens.report_id
  from access.access_tokens
  where access_tokens.token_sha256 = sha256(uuid_send(access_uuid))
    and access_tokens.redeemed_at is null
    and access_tokens.expires_at > clock_timestamp()
$$;
comment on function access.find_report_of_token is
  'The report that a token could be redeemed for now; null if it is unknown, spent or expired. It decides nothing: access.redeem_access_token() does.';
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
  'The X-Request-Id of the request that asked for this token; null if it is unknown. The report service logs it when it redeems the token.';
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
  'Removes tokens that were spent or expired longer ago than access.settings says, and returns how many. access.downloads keeps what they were for. For a scheduler, daily.';
grant usage on schema access to publisher;
grant execute on function access.prune_access_tokens to publisher;
