-- The design that `npm run bench` compares with. It has the shape of the views that the Federal Audit Clearinghouse publishes
-- (GSA-TTS/FAC, api_v1_1_0): Tables have serial IDs. Views join general at query time for the columns that every row shares, look
-- for other EINs and auditors in subqueries, call a PL/pgSQL function for suppressed rows, and end in an order by. The rows and
-- the server are the same, and each index of this service that a query of the benchmark can use has its counterpart. A PostgREST
-- of its own serves the schema common_api.

create schema common;

create table common.general as
select row_number() over () as id, rows.* from (table disclosed.general union all table suppressed.general) as rows;
alter table common.general
  drop column is_multiple_eins, drop column is_secondary_auditors, add primary key (id), add unique (report_id);
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

create table common.additional_eins as
select report_id from disclosed.additional_eins union all select report_id from suppressed.additional_eins;
create index on common.additional_eins (report_id);

create table common.secondary_auditors as
select report_id from disclosed.secondary_auditors union all select report_id from suppressed.secondary_auditors;
create index on common.secondary_auditors (report_id);

create view common.tribal_keys as
select active_keys.key_sha256 from access.active_keys where active_keys.tier = 'tribal';

create function common.has_tribal_key()
returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select from common.tribal_keys
    where tribal_keys.key_sha256 = decode(current_setting('request.headers')::json ->> 'x-api-key-sha256', 'hex')
  );
end
$$;

create schema common_api;

create view common_api.general as
select
  general.*,
  case when exists (select from common.additional_eins where additional_eins.report_id = general.report_id)
    then 'Yes' else 'No' end as is_multiple_eins,
  case when exists (select from common.secondary_auditors where secondary_auditors.report_id = general.report_id)
    then 'Yes' else 'No' end as is_secondary_auditors
from common.general
where general.is_public or common.has_tribal_key()
order by general.id;

create view common_api.federal_awards as
select
  general.auditee_uei, general.audit_year, general.fac_accepted_date, federal_awards.*
from common.federal_awards
join common.general on general.report_id = federal_awards.report_id
where general.is_public or common.has_tribal_key()
order by federal_awards.id;

grant usage on schema common_api, common to api_public, api_tribal;
grant select on all tables in schema common_api to api_public, api_tribal;
grant select on common.tribal_keys to api_public, api_tribal;
grant execute on function common.has_tribal_key to api_public, api_tribal;
analyze common.general;
analyze common.federal_awards;
analyze common.additional_eins;
analyze common.secondary_auditors;
