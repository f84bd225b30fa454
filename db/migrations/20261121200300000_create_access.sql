-- The schema access, and what its tables share: the type for email addresses, and a trigger that refuses to remove rows.
-- Lock level: none on tables.

create schema access;
comment on schema access is
  'Who may see what: tiers, Tribal agreements, API keys and one-time access tokens, and logs of changes and downloads.';

create function access.is_email_address(address text)
returns boolean
language sql immutable security invoker set search_path = ''
return length(address) <= 254
  and address ~* '^[^][:space:][:cntrl:]@"(),:;<>\\.[]+(\.[^][:space:][:cntrl:]@"(),:;<>\\.[]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
comment on function access.is_email_address is
  'Whether a text is formatted as an email address with a domain. Quoted local parts and bare host names are not accepted.';

create domain access.email_address as text
constraint email_address_is_well_formed check (access.is_email_address(value));

create function access.check_email_address(address text)
returns void
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if not coalesce(access.is_email_address(address), false) then
    raise exception '"%" is not an email address (example: name@example.gov).', coalesce(address, '');
  end if;
end
$$;
comment on function access.check_email_address is 'Raises a readable error if the text is not an email address.';

create function access.refuse_removal()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  raise exception 'access.% does not allow %. Its rows are kept as a record.', tg_table_name, lower(tg_op);
end
$$;
comment on function access.refuse_removal is 'Trigger that always raises an error. It is attached to the statements that a table does not allow, such as a delete from a log.';
