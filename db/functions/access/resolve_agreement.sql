create or replace function access.resolve_agreement(reference text)
returns uuid
language plpgsql stable security definer set search_path = ''
as $$
declare
  ids uuid[];
begin
  if length(reference) >= 6 then
    select array_agg(agreement.id) into ids
    from access.tribal_access_agreements as agreement
    where starts_with(agreement.id::text, lower(reference));
  end if;
  if ids is null then
    raise exception 'There is no agreement "%".', reference
      using column = 'agreement_id', hint = 'Enter the agreement''s ID, or at least its first 6 characters.';
  elsif cardinality(ids) > 1 then
    raise exception '"%" matches % agreements.', reference, cardinality(ids)
      using column = 'agreement_id', hint = 'Enter the full ID.';
  end if;
  return ids[1];
end
$$;
comment on function access.resolve_agreement is
  'Returns an agreement''s full ID, given at least its first 6 characters.';
grant execute on function access.resolve_agreement to key_operator;
