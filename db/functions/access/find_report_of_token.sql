-- The report service asks storage for the report's file before it redeems the token, without holding a database connection.
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
grant execute on function access.find_report_of_token to report_service;
