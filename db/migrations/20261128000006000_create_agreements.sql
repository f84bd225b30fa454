-- Agreements under which organizations may see suppressed submissions, and a view of their status.
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
  ends_on date,
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
  constraint tribal_access_agreements_only_approved_ends check (
    ends_on is null or coalesce(decision = 'approved', false) and isfinite(ends_on)
  ),
  constraint tribal_access_agreements_times_are_in_order check (
    decided_at >= requested_at and revoked_at >= decided_at
  )
);

comment on table access.tribal_access_agreements is
  'Agreements under which organizations may see suppressed submissions (2 CFR 200.512(b)(2)). An agreement is requested, then approved or denied. An approved agreement may be revoked or get an earlier last day. For a later last day, approve it again. Nothing else may change.';
comment on column access.tribal_access_agreements.decided_by_name is
  'The federal official with Single Audit oversight who decided.';
comment on column access.tribal_access_agreements.decided_by_agency is 'The official''s agency.';
comment on column access.tribal_access_agreements.reason is 'The reason for the decision. A denial must have one.';
comment on column access.tribal_access_agreements.ends_on is
  'The last day on which the agreement''s keys work, in the time zone of access.agreement_status; null if there is none.';
comment on column access.tribal_access_agreements.revoked_at is 'When the agreement was revoked. Its keys have been refused since then.';

-- No grant: key_operator uses functions (db/functions/access), which run with their owner's rights.

create view access.agreement_status as
select
  agreement.id,
  case
    when agreement.revoked_at is not null then 'revoked'
    when agreement.ends_on < (now() at time zone 'America/New_York')::date then 'ended'
    else coalesce(agreement.decision, 'requested')
  end as status
from access.tribal_access_agreements as agreement;

comment on view access.agreement_status is
  'The status of each agreement. Keys work under an approved one. An agreement ends when its last day is over in Washington, DC.';
-- No grant: the views of keys and agreements read it with their owner's rights.
