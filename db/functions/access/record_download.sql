create or replace function access.record_download()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    insert into access.downloads (api_key_id, report_id, requested_at, redeemed_at, request_id)
    values (
      new.api_key_id, new.report_id, new.requested_at, new.redeemed_at,
      nullif(current_setting('request.id', true), '')
    )
    returning id into new.download_id;
  else
    update access.downloads set redeemed_at = new.redeemed_at where id = new.download_id;
  end if;
  return new;
end
$$;
comment on function access.record_download is
  'Trigger that records in access.downloads that a token was created or redeemed. If the record cannot be written, the token is not created or redeemed.';

create or replace trigger access_tokens_record_request
before insert on access.access_tokens
for each row execute function access.record_download();
create or replace trigger access_tokens_record_redemption
before update on access.access_tokens
for each row
when (new.redeemed_at is distinct from old.redeemed_at)
execute function access.record_download();
