create or replace function access.restrict_download_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
begin
  if
    old.redeemed_at is not null or new.redeemed_at is null
    or to_jsonb(new) - 'redeemed_at' <> to_jsonb(old) - 'redeemed_at'
  then
    raise exception 'A row of access.downloads cannot change, except that redeemed_at may be set once.';
  end if;
  return new;
end
$$;
comment on function access.restrict_download_changes is 'Trigger that allows redeemed_at to be set once, and refuses every other change.';

create or replace trigger downloads_keep
before update on access.downloads
for each row execute function access.restrict_download_changes();
