create or replace function access.require_confirmed_writes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if not access.are_writes_confirmed() then
    raise exception 'The service cannot create or redeem tokens now, because no replica confirms writes.' using
      errcode = 'insufficient_resources',
      hint = 'Send the request again in half a minute.';
  end if;
  return new;
end
$$;
comment on function access.require_confirmed_writes is
  'Trigger that refuses to create or redeem a token while its commit would wait for a replica. PostgREST answers its error with 503.';

-- Triggers run in the order of their names, so this one runs before the download is recorded.
create or replace trigger access_tokens_are_replicated
before insert or update on access.access_tokens
for each row execute function access.require_confirmed_writes();
