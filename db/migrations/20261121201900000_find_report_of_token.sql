-- The report service asks storage about a token's report before it spends the token, and holds no connection meanwhile.
-- Lock level: none on tables.

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
revoke execute on function access.find_report_of_token from public;
grant execute on function access.find_report_of_token to report_service;

comment on function access.redeem_access_token is
  'Spends a token and returns its report ID, or null if it is unknown, spent or expired. Of callers at the same time one gets the report ID.';
