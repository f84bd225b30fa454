-- What each key may do now. A revoked or expired key has no row here from the next request on.
-- A view and not a function: request.decide() reads it at each request, and a call costs as much as the reading.
create view request.keys as
select
  active_keys.id,
  active_keys.key_sha256,
  active_keys.tier,
  active_keys.database_role,
  active_keys.limited_by,
  active_keys.requests_at_a_time,
  (extract(epoch from active_keys.statement_timeout) * 1000)::bigint::text as statement_timeout,
  coalesce(active_keys.last_used_on >= (now() at time zone 'UTC')::date, false) as is_use_recorded,
  (select settings.is_open from publication.settings) as is_open,
  (
    select api_schemas.sha256
    from deployment.api_schemas
    order by api_schemas.id desc
    limit 1
  ) as api_schemas_sha256,
  exists (select from deployment.retired_versions) as has_retired_versions
from access.active_keys;
comment on view request.keys is 'The active keys, with what applies to all of them.';
comment on column request.keys.statement_timeout is 'Milliseconds, as statement_timeout takes them.';
comment on column request.keys.is_use_recorded is 'Whether today (UTC) is written down as its last use.';
comment on column request.keys.is_open is 'Whether requests are answered at all.';
grant select on request.keys to gateway;
