-- 2 CFR 200.521(d)
create or replace function publication.decision_due(accepted date)
returns date
language sql immutable security invoker set search_path = ''
as $$
  select (accepted + interval '6 months')::date
$$;
comment on function publication.decision_due is
  'Returns when the management decision on a report''s findings is due: six months after the report was accepted. Returns null if the report does not state when it was accepted.';
