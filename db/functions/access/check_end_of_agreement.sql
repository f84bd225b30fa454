create or replace function access.check_end_of_agreement(agreement_id uuid)
returns void
language plpgsql stable security invoker set search_path = ''
as $$
begin
  if exists (
    select from access.agreement_status where agreement_status.id = agreement_id and agreement_status.status = 'ended'
  ) then
    raise exception 'The last day of the agreement is in the past. Enter today or a later day.'
      using hint = 'To end the agreement at once, revoke it.';
  end if;
end
$$;
comment on function access.check_end_of_agreement is 'Raises an error if an agreement that was just changed has already ended.';
