-- Agreements under which organizations may see suppressed submissions, and the functions that request, decide and revoke them.
-- Lock level: new tables only.

create table access.tribal_access_agreements (
  id uuid primary key default extensions.uuid_v7(),
  organization text not null,
  contact_email access.email_address not null,
  requested_at timestamptz not null default now(),
  decision text,
  decided_at timestamptz,
  decided_by_name text,
  decided_by_agency text,
  decided_by_email access.email_address,
  reason text,
  revoked_at timestamptz,
  constraint tribal_access_agreements_names_are_not_blank check (
    organization ~ '\S' and decided_by_name ~ '\S' and decided_by_agency ~ '\S'
  ),
  constraint tribal_access_agreements_decision_is_known check (decision in ('approved', 'denied')),
  constraint tribal_access_agreements_decision_is_signed check (
    num_nonnulls(decision, decided_at, decided_by_name, decided_by_agency, decided_by_email) in (0, 5)
  ),
  constraint tribal_access_agreements_denial_has_a_reason check (decision <> 'denied' or coalesce(reason, '') ~ '\S'),
  constraint tribal_access_agreements_reason_is_for_a_decision check (reason is null or decision is not null),
  constraint tribal_access_agreements_only_approved_is_revoked check (
    revoked_at is null or coalesce(decision = 'approved', false)
  ),
  constraint tribal_access_agreements_times_are_in_order check (
    decided_at >= requested_at and revoked_at >= decided_at
  )
);

comment on table access.tribal_access_agreements is
  'Agreements under which organizations may see suppressed submissions (2 CFR 200.512(b)(2)). An agreement is requested, then approved or denied. An approved one may be revoked. Nothing else may change.';
comment on column access.tribal_access_agreements.decided_by_name is
  'The federal official with Single Audit oversight who decided.';
comment on column access.tribal_access_agreements.decided_by_agency is 'The official''s agency.';
comment on column access.tribal_access_agreements.reason is 'The reason for the decision. A denial must have one.';
comment on column access.tribal_access_agreements.revoked_at is 'When the agreement was revoked. Its keys have been refused since then.';

-- No grant: key_operator uses the functions below, which run with their owner's rights.

create function access.restrict_agreement_changes()
returns trigger
language plpgsql volatile security invoker set search_path = ''
as $$
declare
  decision_columns constant text[] := array[
    'decision', 'decided_at', 'decided_by_name', 'decided_by_agency', 'decided_by_email', 'reason'
  ];
begin
  if tg_op = 'INSERT' then
    if num_nonnulls(new.decision, new.revoked_at) > 0 then
      raise exception 'An agreement must be requested before it is approved or denied.'
        using hint = 'Insert the agreement without a decision, then approve or deny it.';
    end if;
    return new;
  end if;
  if not (
    new is not distinct from old
    or old.decision is null and new.decision is not null
      and to_jsonb(new) - decision_columns = to_jsonb(old) - decision_columns
    or old.decision is not distinct from 'approved' and old.revoked_at is null and new.revoked_at is not null
      and to_jsonb(new) - 'revoked_at' = to_jsonb(old) - 'revoked_at'
  ) then
    raise exception 'The agreement % is % and cannot be changed this way.', old.id,
      case when old.revoked_at is null then coalesce(old.decision, 'requested') else 'revoked' end
      using hint = 'You can approve or deny a requested agreement, and revoke an approved one. Nothing else may change.';
  end if;
  return new;
end
$$;
comment on function access.restrict_agreement_changes is
  'Trigger that allows an agreement to be approved, denied or, once approved, revoked, and refuses every other change.';

create trigger tribal_access_agreements_keep
before insert or update on access.tribal_access_agreements
for each row execute function access.restrict_agreement_changes();
create trigger tribal_access_agreements_refuse_removal
before delete or truncate on access.tribal_access_agreements
for each statement execute function access.refuse_removal();
create trigger tribal_access_agreements_record_event
after insert or update on access.tribal_access_agreements
for each row execute function access.record_event();

create function access.request_agreement(agreement_organization text, agreement_contact_email text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  agreement_id uuid;
begin
  if coalesce(agreement_organization, '') !~ '\S' then
    raise exception 'The name of the organization is blank. Enter a name.';
  end if;
  perform access.check_email_address(agreement_contact_email);
  insert into access.tribal_access_agreements (organization, contact_email)
  values (agreement_organization, agreement_contact_email)
  returning id into agreement_id;
  return agreement_id;
end
$$;
comment on function access.request_agreement is 'Records that an organization requests Tribal access. Returns the agreement''s ID.';

create function access.decide_agreement(
  agreement_id uuid,
  agreement_decision text,
  official_name text,
  official_agency text,
  official_email text,
  decision_reason text default null
)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if coalesce(agreement_decision, '') not in ('approved', 'denied') then
    raise exception 'The decision must be "approved" or "denied".';
  elsif coalesce(official_name, '') !~ '\S' or coalesce(official_agency, '') !~ '\S' then
    raise exception 'The name or agency of the federal official is blank. Enter both.';
  elsif agreement_decision = 'denied' and coalesce(decision_reason, '') !~ '\S' then
    raise exception 'Enter a reason for the denial.';
  end if;
  perform access.check_email_address(official_email);
  update access.tribal_access_agreements
  set decision = agreement_decision, decided_at = now(), decided_by_name = official_name,
      decided_by_agency = official_agency, decided_by_email = official_email, reason = decision_reason
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
end
$$;
comment on function access.decide_agreement is
  'Records that a federal official with Single Audit oversight has approved or denied an agreement.';

create function access.revoke_agreement(agreement_id uuid)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update access.tribal_access_agreements
  set revoked_at = now()
  where id = agreement_id;
  if not found then
    raise exception 'There is no agreement %.', agreement_id;
  end if;
end
$$;
comment on function access.revoke_agreement is 'Revokes an approved agreement. Every later request with its keys is refused.';

create function access.resolve_agreement(reference text)
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
      using hint = 'Enter the agreement''s ID, or at least its first 6 characters.';
  elsif cardinality(ids) > 1 then
    raise exception '"%" matches % agreements.', reference, cardinality(ids)
      using hint = 'Enter the full ID.';
  end if;
  return ids[1];
end
$$;
comment on function access.resolve_agreement is
  'Returns an agreement''s full ID, given at least its first 6 characters.';

grant execute on function
  access.request_agreement, access.decide_agreement, access.revoke_agreement, access.resolve_agreement
to key_operator;
