-- The report service asks storage for the report's file before it redeems the token, without holding a database connection.
create or replace function access.find_report_of_token(access_uuid uuid)
returns text
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select valid_tokens.report_id
    from access.valid_tokens
    where valid_tokens.token_sha256 = sha256(uuid_send(access_uuid))
      and publication.is_switched_on()
      and publication.live_data_set() is not null
  );
end
$$;
comment on function access.find_report_of_token is
  'Returns the report ID of a token, or null if the token is not valid (access.valid_tokens), if the service is switched off, or if no data set is published. Does not redeem the token: access.redeem_access_token() does, and may still return null.';
grant execute on function access.find_report_of_token to report_service;
