create or replace function access.revoke_agreement(agreement_id uuid)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update access.tribal_access_agreements
  -- The clock may have been set back since the decision.
  set revoked_at = greatest(now(), decided_at)
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
end
$$;
comment on function access.revoke_agreement is 'Revokes an approved agreement. Later requests with its keys or their tokens are refused.';
grant execute on function access.revoke_agreement to key_operator;
