-- Under which agreements organisations see suppressed submissions, and how one is decided.
-- Lock level: new tables only.

create table access.tribal_access_agreements (
  id uuid primary key default extensions.uuid_v7(),
  organisation text not null,
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
    organisation ~ '\S' and decided_by_name ~ '\S' and decided_by_agency ~ '\S'
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
  'Agreements under which an organisation may see suppressed submissions (2 CFR 200.512(b)(2)): requested, then approved or denied, and revoked if it was approved. Nothing else about one may change.';
comment on column access.tribal_access_agreements.decided_by_name is
  'Federal official with Single Audit oversight who decided.';
comment on column access.tribal_access_agreements.decided_by_agency is 'The agency of that official.';
comment on column access.tribal_access_agreements.reason is 'Why it was decided so. A denial must have one.';
comment on column access.tribal_access_agreements.revoked_at is 'Since when its keys are refused.';

-- No grant: agreements are requested, decided and revoked by the functions below, with their owner's rights.

create function access.keep_agreement()
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
      raise exception 'An agreement is requested before it is decided.'
        using hint = 'Insert the request, then approve or deny it.';
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
    raise exception 'The agreement % is %: this change is refused.', old.id,
      case when old.revoked_at is null then coalesce(old.decision, 'requested') else 'revoked' end
      using hint = 'A requested agreement may be approved or denied, an approved one revoked, and nothing else may change.';
  end if;
  return new;
end
$$;
comment on function access.keep_agreement is
  'Lets an agreement go from requested to approved or denied, and from approved to revoked, and refuses all else.';

create trigger tribal_access_agreements_keep
before insert or update on access.tribal_access_agreements
for each row execute function access.keep_agreement();
create trigger tribal_access_agreements_refuse_removal
before delete or truncate on access.tribal_access_agreements
for each statement execute function access.refuse_removal();
create trigger tribal_access_agreements_record_event
after insert or update on access.tribal_access_agreements
for each row execute function access.record_event();

create function access.request_agreement(agreement_organisation text, agreement_contact_email text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  agreement_id uuid;
begin
  if coalesce(agreement_organisation, '') !~ '\S' then
    raise exception 'The name of the organisation is blank.';
  end if;
  perform access.check_email_address(agreement_contact_email);
  insert into access.tribal_access_agreements (organisation, contact_email)
  values (agreement_organisation, agreement_contact_email)
  returning id into agreement_id;
  return agreement_id;
end
$$;
comment on function access.request_agreement is 'Writes down that an organisation asks for Tribal access. Returns the agreement''s ID.';

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
    raise exception 'An agreement is decided as approved or denied.';
  elsif coalesce(official_name, '') !~ '\S' or coalesce(official_agency, '') !~ '\S' then
    raise exception 'The name or the agency of the federal official is blank.';
  elsif agreement_decision = 'denied' and coalesce(decision_reason, '') !~ '\S' then
    raise exception 'A denial must have a reason.';
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
  'Writes down the decision (approved or denied) of a federal official with Single Audit oversight on a request.';

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
comment on function access.revoke_agreement is 'Revokes an approved agreement. Its keys are refused from the next request.';

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
      using hint = 'Name an agreement by its ID, or by the first 6 or more characters of it.';
  elsif cardinality(ids) > 1 then
    raise exception '"%" could be any of % agreements.', reference, cardinality(ids)
      using hint = 'Give the full ID.';
  end if;
  return ids[1];
end
$$;
comment on function access.resolve_agreement is
  'The ID of the one agreement that is meant by its ID or by the first 6 or more characters of it.';

grant execute on function
  access.request_agreement, access.decide_agreement, access.revoke_agreement, access.resolve_agreement
to key_operator;
