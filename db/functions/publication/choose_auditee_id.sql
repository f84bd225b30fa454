create or replace function publication.choose_auditee_id(uei text, ein text)
returns text
language sql immutable security invoker set search_path = ''
as $$
  select case when uei ~ '^[A-Z0-9]{12}$' then uei when ein ~ '^\d{9}$' then ein end
$$;
comment on function publication.choose_auditee_id is
  'Returns the ID by which an auditee''s reports are found: its UEI, or its EIN if it has no UEI. Returns null if it has neither.';
