-- The design that `npm run bench` compares with. Tables have serial IDs. Views join general at query time for the columns
-- that every row shares, call a PL/pgSQL function for each row to decide whether it is visible, and end in an order by.
-- The rows and the server are the same, and each index of this service that a query of the benchmark can use has its
-- counterpart. A PostgREST of its own serves the schema common_api.

create schema common;

create table common.general as
select row_number() over () as id, rows.* from (table disclosed.general union all table suppressed.general) as rows;
alter table common.general add primary key (id), add unique (report_id);
create index on common.general (audit_year, auditee_state);
create index on common.general (fac_accepted_date);
create index on common.general (total_amount_expended desc nulls last);
create index on common.general using gin (auditee_name extensions.gin_trgm_ops);

create table common.federal_awards as
select row_number() over () as id, rows.*
from (table disclosed.federal_awards union all table suppressed.federal_awards) as rows;
alter table common.federal_awards
  drop column auditee_uei, drop column audit_year, drop column fac_accepted_date, add primary key (id);
create index on common.federal_awards (report_id);
create index on common.federal_awards (federal_agency_prefix, federal_award_extension);

create function common.may_see(is_public boolean)
returns boolean
language plpgsql stable
as $$
begin
  if is_public then
    return true;
  end if;
  return exists (
    select from common.tribal_keys
    where tribal_keys.key_sha256 = decode(current_setting('request.headers')::json ->> 'x-api-key-sha256', 'hex')
  );
end
$$;

create view common.tribal_keys as
select active_keys.key_sha256 from access.active_keys where active_keys.tier = 'tribal';

create schema common_api;

create view common_api.general as
select general.*
from common.general
where common.may_see(general.is_public)
order by general.id;

create view common_api.federal_awards as
select
  general.auditee_uei, general.audit_year, general.fac_accepted_date, federal_awards.*
from common.federal_awards
join common.general on general.report_id = federal_awards.report_id
where common.may_see(general.is_public)
order by federal_awards.id;

grant usage on schema common_api, common to api_public, api_tribal;
grant select on all tables in schema common_api to api_public, api_tribal;
grant select on common.tribal_keys to api_public, api_tribal;
grant execute on function common.may_see to api_public, api_tribal;
analyze common.general;
analyze common.federal_awards;
