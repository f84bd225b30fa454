create or replace function ledger.record(entry_kind text, entry_subject text, effective_at timestamptz)
returns void
language sql volatile security invoker set search_path = ''
as $$
  insert into ledger.entries (kind, subject, takes_effect_at, recorded_by)
  select entry_kind, entry_subject, effective_at, coalesce(nullif(current_setting('access.operator', true), ''), session_user)
  -- Entries that ledger.apply() reads from the ledger exist already.
  where not exists (
    select from (
      select entries.kind, entries.takes_effect_at
      from ledger.entries
      where entries.subject = entry_subject and split_part(entries.kind, ' ', 1) = split_part(entry_kind, ' ', 1)
        and (entries.kind = entry_kind or entry_kind like 'report %')
      order by entries.id desc
      limit 1
    ) as last
    where last.kind = entry_kind and (last.takes_effect_at = effective_at or entry_kind like 'report %')
  )
$$;
comment on function ledger.record is 'Adds an entry, unless the last one about the subject says the same.';
