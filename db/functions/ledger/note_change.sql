create or replace function ledger.note_change()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  new.changed_in := pg_current_xact_id()::xid;
  return new;
end
$$;
comment on function ledger.note_change is 'Trigger that notes the transaction of a change, which a row of a backup cannot have.';

create or replace trigger claim_note_change
before update on ledger.claim
for each row execute function ledger.note_change();
