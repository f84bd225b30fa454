-- Which request asked for a download, so that the redemption's log line can name it.
-- Lock level: a short exclusive lock on access.downloads.

alter table access.downloads add column request_id text;
comment on column access.downloads.request_id is
  'X-Request-Id of the request that asked for the token, as request.decide() took it; null if it sent none of a sane form.';

create or replace function access.record_download()
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
  'The X-Request-Id of the request that asked for this token; null if it is unknown. For the log of who redeems the token.';
grant execute on function access.find_request_of_token to report_service;
