create or replace function access.check_email_address(address text, column_name text default '')
returns void
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if address is null then
    raise check_violation;
  end if;
  perform address::access.email_address;
exception
  when check_violation then
    raise exception '"%" is not an email address (example: name@example.gov).', coalesce(address, '')
      using column = column_name;
end
$$;
comment on function access.check_email_address is 'Raises a readable error if the text is not an email address. The error names the column, if one is given.';
