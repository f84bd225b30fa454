-- What each key may do now. A key that is revoked or expires has no row here, which the next request notices.
-- This is a view because a function call would double the cost, and request.decide() reads it in every request.
create view request.keys as
select
  active_keys.id,
  active_keys.key_sha256,
  active_keys.tier,
  active_keys.database_role,
  active_keys.limited_by,
  active_keys.requests_at_a_time,
  (extract(epoch from active_keys.statement_timeout) * 1000)::bigint::text as statement_timeout,
  (select service.is_on from publication.service) is true as is_switched_on,
  (
    select api_schemas.sha256
    from deployment.api_schemas
    order by api_schemas.id desc
    limit 1
  ) as api_schemas_sha256,
  exists (select from deployment.retired_versions) as has_retired_versions
from access.active_keys;
comment on view request.keys is 'Active keys. Each row also has the hash of the deployed API and says whether the service is switched on.';
comment on column request.keys.statement_timeout is 'In milliseconds, for statement_timeout.';
comment on column request.keys.is_switched_on is 'Whether the service is switched on, and the database has been compared with the ledger.';
grant select on request.keys to gateway;
