create or replace function access.issue_keys(keys jsonb)
returns table (line integer, api_key_id uuid, api_key text)
language plpgsql volatile security definer set search_path = ''
as $$
declare
  wanted record;
  state text;
  problem text;
  at_column text;
  advice text;
begin
  for wanted in
    select list.*
    from jsonb_to_recordset(keys) as list (
      line integer, tier text, owner_email text, label text, expires_at timestamptz, agreement_id text
    )
  loop
    line := wanted.line;
    select issued.api_key_id, issued.api_key into api_key_id, api_key
    from access.issue_key(
      wanted.tier, wanted.owner_email, coalesce(wanted.label, ''), wanted.expires_at,
      case when wanted.agreement_id <> '' then access.resolve_agreement(wanted.agreement_id) end
    ) as issued;
    return next;
  end loop;
exception
  when others then
    get stacked diagnostics
      state = returned_sqlstate, problem = message_text, at_column = column_name, advice = pg_exception_hint;
    raise exception '%', concat_ws(', ', 'Line ' || line, 'column ' || nullif(at_column, '')) || ': ' || problem
      using errcode = state, hint = advice;
end
$$;
comment on function access.issue_keys is
  'Creates a key for each object of a JSON array (line, tier, owner_email, label, expires_at, agreement_id), or none. Errors name the line and the column.';
grant execute on function access.issue_keys to key_operator;
