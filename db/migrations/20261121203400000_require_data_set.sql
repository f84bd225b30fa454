-- Until a data set is published, requests and one-time tokens get 503 (no_data_set). The empty tables that a first
-- deployment makes are not a data set, so publication.data_sets no longer has a row for them. So no rollback leads to them.
-- Lock level: row locks on publication.data_sets and disclosed.data_set, for which no request waits.

do $$
begin
  if to_regclass('disclosed.data_set') is not null then
    -- request.decide() refuses requests while this is null.
    update disclosed.data_set set published_at = null
    where data_set.id in (select data_sets.id from publication.data_sets where data_sets.source = 'empty');
  end if;
end
$$;
delete from publication.data_sets where data_sets.source = 'empty';
comment on column publication.data_sets.checksum is 'Hash of the source files and the table definitions.';

create or replace function access.redeem_access_token(access_uuid uuid)
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
    and publication.live_data_set() is not null
  returning report_id into redeemed_report_id;
  return redeemed_report_id;
end
$$;
comment on function access.redeem_access_token is
  'Redeems a token and returns its report ID, or null if the token is unknown, already used or expired, if the service is switched off, or if no data set is published. If calls with the same token coincide, only one gets the report ID.';

create or replace function access.find_report_of_token(access_uuid uuid)
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
      and publication.live_data_set() is not null
  );
end
$$;
comment on function access.find_report_of_token is
  'Returns the report ID of a token, or null if the token is unknown, redeemed or expired, if the service is switched off, or if no data set is published. Does not redeem the token: access.redeem_access_token() does, and may still return null.';
