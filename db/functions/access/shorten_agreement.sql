create or replace function access.shorten_agreement(agreement_id uuid, agreement_ends_on date)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update access.tribal_access_agreements
  set ends_on = agreement_ends_on
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
  perform access.check_end_of_agreement(agreement_id);
end
$$;
comment on function access.shorten_agreement is
  'Sets the last day of an approved agreement, or moves it earlier. After that day, requests with its keys are refused.';
grant execute on function access.shorten_agreement to key_operator;
