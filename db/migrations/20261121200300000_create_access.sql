-- The schema of who may see what, and what its tables share: e-mail addresses, the refusal to remove
-- rows.
-- Lock level: none on tables.

create schema access;
comment on schema access is
  'Who may see what: tiers, Tribal agreements, API keys, one-time access tokens, and the record of every change.';

create function access.is_email_address(address text)
returns boolean
language sql immutable security invoker set search_path = ''
return length(address) <= 254
  and address ~* '^[^][:space:][:cntrl:]@"(),:;<>\\.[]+(\.[^][:space:][:cntrl:]@"(),:;<>\\.[]+)*@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$';
comment on function access.is_email_address is
  'Whether a text has the form of an e-mail address with a domain. Quoted local parts and bare host names have not.';

create domain access.email_address as text
constraint email_address_has_the_form check (access.is_email_address(value));

create function access.check_email_address(address text)
returns void
language plpgsql immutable security invoker set search_path = ''
as $$
begin
  if not coalesce(access.is_email_address(address), false) then
    raise exception '"%" is not an e-mail address.', coalesce(address, '');
  end if;
end
$$;
comment on function access.check_email_address is 'Refuses what has not the form of an e-mail address, in plain words.';

create function access.refuse_removal()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  raise exception 'access.% keeps its rows: % is refused.', tg_table_name, lower(tg_op);
end
$$;
comment on function access.refuse_removal is 'Keeps a table append-only: statements it is attached to fail.';
