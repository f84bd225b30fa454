create or replace function access.restrict_agreement_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  decision_columns constant text[] := array[
    'decision', 'decided_at', 'decided_by_name', 'decided_by_agency', 'decided_by_email', 'reason', 'ends_on'
  ];
begin
  if tg_op = 'INSERT' then
    if num_nonnulls(new.decision, new.ends_on, new.revoked_at) > 0 then
      raise exception 'An agreement must be requested before it is approved or denied.'
        using hint = 'Insert the agreement without a decision, then approve or deny it.';
    end if;
    return new;
  end if;
  if (
    new is not distinct from old
    or old.decision is null and new.decision is not null
      and to_jsonb(new) - decision_columns = to_jsonb(old) - decision_columns
    or old.decision is not distinct from 'approved' and old.revoked_at is null and (
      new.revoked_at is not null and to_jsonb(new) - 'revoked_at' = to_jsonb(old) - 'revoked_at'
      or new.ends_on < coalesce(old.ends_on, 'infinity') and to_jsonb(new) - 'ends_on' = to_jsonb(old) - 'ends_on'
      -- A later last day, or none, needs a new approval by an official.
      or new.decision = 'approved' and new.decided_at > old.decided_at and new.ends_on is distinct from old.ends_on
        and to_jsonb(new) - decision_columns = to_jsonb(old) - decision_columns
    )
  ) is not true then
    raise exception 'The agreement % is % and cannot be changed this way.', old.id,
      case when old.revoked_at is null then coalesce(old.decision, 'requested') else 'revoked' end
      using hint = 'You can approve or deny a requested agreement, and revoke an approved one or move its last day earlier. To move the last day later, approve it again.';
  end if;
  return new;
end
$$;
comment on function access.restrict_agreement_changes is
  'Trigger that allows an agreement to be approved or denied. An approved agreement may be revoked, get an earlier last day, or be approved again with another last day. The trigger refuses every other change.';

create or replace trigger tribal_access_agreements_keep
before insert or update on access.tribal_access_agreements
for each row execute function access.restrict_agreement_changes();
