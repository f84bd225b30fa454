create or replace function access.redeem_access_token(access_uuid uuid)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  redeemed_report_id text;
begin
  update access.valid_tokens
  set redeemed_at = now()
  where token_sha256 = sha256(uuid_send(access_uuid))
    and publication.is_switched_on()
    and publication.live_data_set() is not null
  returning report_id into redeemed_report_id;
  return redeemed_report_id;
end
$$;
comment on function access.redeem_access_token is
  'Redeems a token and returns its report ID, or null if the token is not valid (access.valid_tokens), if the service is switched off, or if no data set is published. If several calls redeem the same token at once, only one gets the report ID.';
grant execute on function access.redeem_access_token to report_service;
