create or replace function access.prune_access_tokens()
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
grant execute on function access.prune_access_tokens to publisher;
