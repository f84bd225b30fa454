create or replace function ledger.record_suppression()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform ledger.record('report suppressed', new.report_id, new.suppressed_since);
  else
    perform ledger.record('report released', old.report_id, now());
  end if;
  return null;
end
$$;
comment on function ledger.record_suppression is 'Trigger that records suppressions and releases for the ledger.';

create or replace trigger suppressed_reports_record_suppression
after insert or delete on publication.suppressed_reports
for each row execute function ledger.record_suppression();
