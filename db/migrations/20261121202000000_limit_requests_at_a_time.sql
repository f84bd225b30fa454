-- How many requests of a key may run at a time (db/api/request/decide.sql counts them).
-- Lock level: access exclusive on access.tiers, three rows, and on the view.

alter table access.tiers add column requests_at_a_time integer;
update access.tiers set requests_at_a_time = case name when 'demo' then 3 else 4 end
where requests_at_a_time is null;
alter table access.tiers alter column requests_at_a_time set default 4;
-- PostgREST has five connections in docker-compose.yml, elsewhere more: no key, and no address, ever holds all of them.
-- Null is no number of requests either.
-- pgls-ignore lint/safety/constraintMissingNotValid: three rows
alter table access.tiers
  add constraint tiers_leave_connections_to_others check (coalesce(requests_at_a_time, 0) between 1 and 4);
comment on column access.tiers.requests_at_a_time is
  'Requests that the database answers at a time, counted as limited_by says; 429 beyond it.';

create or replace view access.active_keys as
select
  api_keys.id,
  api_keys.tier,
  encode(api_keys.key_sha256, 'hex') as key_sha256,
  tiers.database_role,
  tiers.requests_per_hour,
  tiers.requests_per_day,
  tiers.limited_by,
  tiers.statement_timeout,
  api_keys.expires_at,
  api_keys.last_used_on,
  tiers.requests_at_a_time
from access.api_keys
join access.tiers on tiers.name = api_keys.tier
left join access.tribal_access_agreements as agreement on agreement.id = api_keys.agreement_id
where api_keys.revoked_at is null
  and (api_keys.expires_at is null or api_keys.expires_at > now())
  and (api_keys.agreement_id is null or (agreement.decision = 'approved' and agreement.revoked_at is null));
