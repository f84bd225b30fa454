-- A view of the agreements for people, with the number of active keys under each.
-- Lock level: none.

create view access.agreement_overview as
select
  agreement.id,
  agreement.organization,
  agreement.contact_email,
  case
    when agreement.revoked_at is not null then 'revoked'
    else coalesce(agreement.decision, 'requested')
  end as status,
  agreement.requested_at,
  agreement.decided_at,
  agreement.decided_by_name,
  agreement.decided_by_agency,
  agreement.decided_by_email,
  agreement.reason,
  agreement.revoked_at,
  (
    select count(*)
    from access.active_keys
    join access.api_keys on api_keys.id = active_keys.id
    where api_keys.agreement_id = agreement.id
  ) as active_keys
from access.tribal_access_agreements as agreement;

comment on view access.agreement_overview is 'All agreements in readable form: who requested each, who decided and how, and how many of its keys are active.';
grant select on access.agreement_overview to key_operator;
