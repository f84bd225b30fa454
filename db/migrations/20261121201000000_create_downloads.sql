-- Which key asked for which report's PDF.
-- Lock level: new tables only.

create table access.downloads (
  id uuid primary key default extensions.uuid_v7(),
  api_key_id uuid not null references access.api_keys (id),
  report_id text not null,
  requested_at timestamptz not null default now(),
  redeemed_at timestamptz,
  request_id text
);

comment on table access.downloads is
  'Which key asked for which report''s PDF, and when it was redeemed. Kept when the token is pruned.';
comment on column access.downloads.redeemed_at is 'When the token was spent; null if it never was.';
comment on column access.downloads.request_id is
  'X-Request-Id of the request that asked for the token, as request.decide() took it; null if it sent none of a sane form.';

-- No grant: rows come with access tokens, and only the owner of this schema reads them.

create function access.keep_download()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if
    old.redeemed_at is not null or new.redeemed_at is null
    or to_jsonb(new) - 'redeemed_at' <> to_jsonb(old) - 'redeemed_at'
  then
    raise exception 'access.downloads keeps its rows: only redeemed_at may be set, once.';
  end if;
  return new;
end
$$;
comment on function access.keep_download is 'Lets a download be redeemed once, and refuses every other change.';

create trigger downloads_keep
before update on access.downloads
for each row execute function access.keep_download();
create trigger downloads_refuse_removal
before delete or truncate on access.downloads
for each statement execute function access.refuse_removal();
