-- A record of which key requested which suppressed report's PDF.
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
  'Which key requested which report''s PDF, and when the token was redeemed. Rows stay when the token is pruned.';
comment on column access.downloads.redeemed_at is 'When the token was redeemed; null if it was not.';
comment on column access.downloads.request_id is
  'X-Request-Id of the request that created the token; null if request.decide() did not accept the ID.';

-- No grant: a trigger of access.access_tokens writes the rows, and only the owner of this schema reads them.

create function access.restrict_download_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if
    old.redeemed_at is not null or new.redeemed_at is null
    or to_jsonb(new) - 'redeemed_at' <> to_jsonb(old) - 'redeemed_at'
  then
    raise exception 'A row of access.downloads cannot change, except that redeemed_at may be set once.';
  end if;
  return new;
end
$$;
comment on function access.restrict_download_changes is 'Trigger that allows redeemed_at to be set once, and refuses every other change.';

create trigger downloads_keep
before update on access.downloads
for each row execute function access.restrict_download_changes();
create trigger downloads_refuse_removal
before delete or truncate on access.downloads
for each statement execute function access.refuse_removal();
