create or replace function access.request_agreement(agreement_organization text, agreement_contact_email text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  agreement_id uuid;
begin
  if coalesce(agreement_organization, '') !~ '\S' then
    raise exception 'The name of the organization is blank. Enter a name.';
  end if;
  perform access.check_email_address(agreement_contact_email);
  insert into access.tribal_access_agreements (organization, contact_email)
  values (agreement_organization, agreement_contact_email)
  returning id into agreement_id;
  return agreement_id;
end
$$;
comment on function access.request_agreement is 'Records that an organization requests Tribal access. Returns the agreement''s ID.';
grant execute on function access.request_agreement to key_operator;
