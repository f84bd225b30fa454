create or replace function access.refuse_removal()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  raise exception '%.% does not allow %. Its rows are kept as a record.', tg_table_schema, tg_table_name, lower(tg_op);
end
$$;
comment on function access.refuse_removal is 'Trigger that always raises an error. It is attached to the statements that a table does not allow, such as a delete from a log.';

create or replace trigger events_refuse_removal
before update or delete or truncate on access.events
for each statement execute function access.refuse_removal();
create or replace trigger tribal_access_agreements_refuse_removal
before delete or truncate on access.tribal_access_agreements
for each statement execute function access.refuse_removal();
create or replace trigger api_keys_refuse_removal
before delete or truncate on access.api_keys
for each statement execute function access.refuse_removal();
create or replace trigger downloads_refuse_removal
before delete or truncate on access.downloads
for each statement execute function access.refuse_removal();
create or replace trigger suppressed_reports_refuse_removal
before update or truncate on publication.suppressed_reports
for each statement execute function access.refuse_removal();
