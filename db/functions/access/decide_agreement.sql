create or replace function access.decide_agreement(
  agreement_id uuid,
  agreement_decision text,
  official_name text,
  official_agency text,
  official_email text,
  decision_reason text default null,
  agreement_ends_on date default null
)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if coalesce(agreement_decision, '') not in ('approved', 'denied') then
    raise exception 'The decision must be "approved" or "denied".';
  elsif coalesce(official_name, '') !~ '\S' or coalesce(official_agency, '') !~ '\S' then
    raise exception 'The name or agency of the federal official is blank. Enter both.';
  elsif agreement_decision = 'denied' and coalesce(decision_reason, '') !~ '\S' then
    raise exception 'Enter a reason for the denial.';
  end if;
  perform access.check_email_address(official_email);
  update access.tribal_access_agreements
  set decision = agreement_decision, decided_at = now(), decided_by_name = official_name,
      decided_by_agency = official_agency, decided_by_email = official_email, reason = decision_reason,
      ends_on = agreement_ends_on
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
  perform access.check_end_of_agreement(agreement_id);
end
$$;
comment on function access.decide_agreement is
  'Records that a federal official with Single Audit oversight has approved or denied an agreement. To move the last day of an approved agreement later or to remove it, approve the agreement again.';
grant execute on function access.decide_agreement to key_operator;
