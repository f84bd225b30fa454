/** What a database's owner or publisher could run, and what find_leaks() then reports. */
export const attacks: Record<string, string> = {
  "create view api_v1_1_0.bare as table suppressed.general; grant select on api_v1_1_0.bare to api_public; alter view api_v1_1_0.bare owner to api_owner; grant usage on schema suppressed to api_owner; grant select on suppressed.general to api_owner; create policy builder on suppressed.general to api_owner using (true)":
    "The policy builder shows rows of suppressed.general to roles other than api_tribal",
  "create view api_v1_1_0.bare as table suppressed.general; grant select on api_v1_1_0.bare to api_public;":
    "api_public can read api_v1_1_0.bare",
  "create schema helper; create view helper.bare as table suppressed.findings; grant usage on schema helper to api_public; grant select on helper.bare to api_public;":
    "api_public can read helper.bare, which is not part of the data set or the API",
  "create schema helper; create table helper.copy as table suppressed.findings; grant select on helper.copy to api_public;":
    "api_public can read helper.copy",
  "create function api_v1_1_0.peek() returns text language plpgsql as $$ begin perform set_config('role', 'api_tribal', true); return (select string_agg(auditee_name, ',') from suppressed.general); end $$; grant execute on function api_v1_1_0.peek() to api_public":
    "api_v1_1_0.peek() belongs to postgres. Only api_owner may own what the API serves",
  "grant select (owner_email) on access.api_keys to api_public": "api_public can read access.api_keys",
  "create function api_v1_1_0.all_suppressed() returns setof suppressed.general language sql stable security definer set search_path = '' as 'table suppressed.general'; grant execute on function api_v1_1_0.all_suppressed() to api_public;":
    "api_public can run api_v1_1_0.all_suppressed(), which runs with the rights of postgres",
  "create function extensions.peek() returns bigint language sql stable security definer set search_path = '' as 'select count(*) from suppressed.general'; grant execute on function extensions.peek() to public":
    "api_public and api_owner can run extensions.peek()",
  "alter view dissemination.findings reset (security_invoker)":
    "api_public and api_owner can read dissemination.findings, which does not run with its caller's rights",
  "alter role api_public superuser": "api_public is a superuser or has bypassrls",
  "alter role gateway bypassrls": "gateway is a superuser or has bypassrls",
  "alter role api_owner bypassrls": "api_owner is a superuser or has bypassrls",
  "grant api_tribal to api_public;": "api_public must not be a member of api_tribal",
  "grant publisher to report_service": "report_service must not be a member of publisher",
  "grant publisher to authenticator": "authenticator must not be a member of publisher",
  "alter table suppressed.general owner to api_public": "api_public must not own table suppressed.general",
  "create policy all_of_it on suppressed.passthrough for select to api_public using (true)":
    "The policy all_of_it shows rows of suppressed.passthrough",
  "alter table suppressed.general disable row level security": "suppressed.general has no row-level security",
  "create view suppressed.names as select auditee_name from suppressed.general":
    "suppressed.names is not a table",
  "alter table access.tiers drop constraint tiers_only_tribal_sees_suppressed; update access.tiers set database_role = 'api_tribal' where name = 'individual'":
    "The tier individual uses the role api_tribal",
  "create role api_agency bypassrls; alter table access.tiers drop constraint tiers_database_role_is_served; update access.tiers set database_role = 'api_agency' where name = 'individual'":
    "api_agency is a superuser or has bypassrls",
  "alter table suppressed.additional_eins inherit disclosed.additional_eins":
    "suppressed.additional_eins inherits from disclosed.additional_eins",
  "set local role publisher; insert into disclosed.general select (jsonb_populate_record(null::disclosed.general, to_jsonb(general) || jsonb_build_object('is_public', true))).* from suppressed.general limit 1; reset role":
    "disclosed.general reveals data of suppressed submissions",
  "insert into publication.suppressed_reports (report_id) select report_id from disclosed.general limit 1":
    "disclosed.general reveals data of suppressed submissions",
  "alter table disclosed.federal_awards drop constraint federal_awards_report_id_is_in_general; insert into disclosed.federal_awards select * from suppressed.federal_awards limit 1":
    "disclosed.federal_awards reveals data of suppressed submissions",
  "alter table disclosed.notes_to_sefa alter report_id drop not null; update disclosed.notes_to_sefa set report_id = null where ctid = (select min(ctid) from disclosed.notes_to_sefa)":
    "disclosed.notes_to_sefa reveals data of suppressed submissions, or has rows without a report_id",
  "update disclosed.resubmission set previous_report_id = (select report_id from suppressed.general limit 1) where report_id = (select report_id from disclosed.resubmission limit 1)":
    "disclosed.resubmission reveals data of suppressed submissions",
  "alter table disclosed.general_stubs drop constraint general_stubs_tell_nothing; update disclosed.general_stubs set auditee_state = 'AZ'":
    "disclosed.general_stubs reveals data",
  "insert into disclosed.resubmission (report_id, auditee_uei, status) select previous_report_id, auditee_uei, 'deprecated_via_resubmission' from suppressed.resubmission where previous_report_id is not null limit 1":
    "disclosed.resubmission has a status that reveals a later suppressed submission",
  "update disclosed.general set resubmission_version = 2 where report_id in (select next_report_id from suppressed.resubmission) and report_id not in (select report_id from disclosed.resubmission)":
    "disclosed.general has a resubmission_version that reveals an earlier suppressed submission",
  "create materialized view disclosed.copy as table suppressed.general; alter materialized view disclosed.copy owner to publisher; grant select on disclosed.copy to api_public;":
    "The materialized view disclosed.copy must read only tables of its own schema",
  "create materialized view disclosed.counts as select audit_year, count(*) as submissions from (table disclosed.general union all table suppressed.general) as rows group by 1; alter materialized view disclosed.counts owner to publisher; grant select on disclosed.counts to api_public;":
    "The materialized view disclosed.counts must read only tables",
  "create table disclosed.names as select auditee_name from suppressed.general":
    "disclosed.names has no report_id",
  "alter table disclosed.data_set add column names text[]": "disclosed.data_set has no report_id",
  "insert into disclosed.data_set select md5(auditee_name)::uuid, now(), now() from suppressed.general where auditee_name is not null limit 1":
    "disclosed.data_set should have exactly one row",
  "create or replace function publication.is_public_report(asked_report_id text) returns boolean language sql stable security definer set search_path = '' as $$ select exists (select from dissemination.general where report_id = asked_report_id) $$":
    "is_public_report() returns true for suppressed reports",
  "create or replace function publication.describe_totals() returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('totals_by_state', jsonb_build_array(jsonb_build_object('submissions', count(*)))) from (select from disclosed.general union all select from suppressed.general) as rows $$":
    "describe_totals() should count all public submissions and no others",
  "set local role publisher; create function disclosed.turn() returns boolean language sql immutable return true; create index turned on disclosed.general (report_id) where disclosed.turn(); reset role":
    "publisher owns the function disclosed.turn(), which could run with this check's privileges",
  "alter table disclosed.general force row level security":
    "disclosed.general forces row-level security, so its policies could run with this check's privileges",
  "grant select on disclosed_previous.general to api_public, api_tribal":
    "api_tribal and api_public can read disclosed_previous.general, which is not live",
  "grant select (report_id) on suppressed_previous.general to api_tribal":
    "api_tribal can read suppressed_previous.general, which is not live",
  "grant select (report_id) on disclosed_previous.findings to key_operator":
    "disclosed_previous.findings is granted to key_operator, but is not live. Run: revoke all on disclosed_previous.findings from key_operator",
  "grant select on disclosed_previous.totals_by_state to public":
    "disclosed_previous.totals_by_state is granted to public, but is not live",
  "grant select on suppressed.general to report_service": "report_service can read suppressed.general",
  "alter table suppressed.findings owner to api_owner":
    "suppressed.findings belongs to api_owner. Only publisher may own the data set",
  "alter table disclosed_previous.findings owner to api_owner":
    "api_owner must not own table disclosed_previous.findings",
  "alter schema suppressed owner to postgres":
    "The schema suppressed belongs to postgres. Run: alter schema suppressed owner to publisher",
  "create schema helper authorization publisher": "publisher must not own schema helper",
  "grant pg_read_all_data to api_tribal": "api_tribal must not be a member of pg_read_all_data",
  "alter role report_service replication": "report_service has the attribute replication",
  "create materialized view disclosed.copy as select query_to_xml('table suppressed.general', true, false, '') as report_id; alter materialized view disclosed.copy owner to publisher":
    "The materialized view disclosed.copy calls query_to_xml(text,boolean,boolean,text)",
  "create materialized view disclosed.copy as select table_to_xml(to_regclass('suppressed.general'), true, false, '') as report_id; alter materialized view disclosed.copy owner to publisher":
    "The materialized view disclosed.copy calls to_regclass(text)",
  "create view dissemination.switch with (security_invoker = true) as select set_config('role', 'api_tribal', true) as role; alter view dissemination.switch owner to publisher":
    "The view dissemination.switch calls set_config(text,text,boolean)",
  "create policy switch on disclosed.findings for select to api_public using (set_config('role', 'api_tribal', true) <> ''); alter table disclosed.findings enable row level security":
    "The policy switch on disclosed.findings has a condition",
  "grant insert on dissemination.general to api_public": "api_public can change dissemination.general",
  "grant update (auditee_name) on disclosed.general to api_tribal": "api_tribal can change disclosed.general",
  "create trigger keep before update on disclosed.general for each row execute function suppress_redundant_updates_trigger()":
    "disclosed.general has the trigger or rule keep",
  "create rule copy as on insert to dissemination.findings do instead select 1":
    "dissemination.findings has the trigger or rule copy",
  "alter table disclosed.general add column shouted text generated always as (upper(auditee_name)) stored":
    "disclosed.general.shouted is a generated column",
  "create schema helper; create table helper.more () inherits (disclosed.findings)":
    "helper.more inherits from disclosed.findings",
  "create foreign data wrapper far; create server far foreign data wrapper far; create foreign table disclosed.far (report_id text) server far; grant select on disclosed.far to api_public":
    "api_public can read disclosed.far",
  "grant usage, select on sequence access.events_id_seq to api_public":
    "api_public can read access.events_id_seq",
  "grant select on pg_statistic to api_public": "api_public may use table pg_statistic",
  "grant select (stavalues1) on pg_statistic to public":
    "PUBLIC may use column stavalues1 of table pg_statistic",
  "grant execute on function pg_read_file(text) to report_service":
    "report_service may use function pg_read_file(text)",
  "alter default privileges for role publisher grant select on tables to api_public":
    "Default privileges of publisher grant SELECT on future objects to api_public",
  "select lo_create(4711); grant select on large object 4711 to api_public":
    "api_public can read the large object 4711",
  "create materialized view disclosed.sizes as select relname, reltuples from pg_class; alter materialized view disclosed.sizes owner to publisher":
    "The materialized view disclosed.sizes must read only tables of its own schema, but reads pg_class",
  "create view dissemination.sizes with (security_invoker = true) as select relname, n_live_tup from pg_stat_user_tables; alter view dissemination.sizes owner to publisher; grant select on dissemination.sizes to api_public":
    "The view dissemination.sizes must read only tables of the live data set, but reads pg_stat_user_tables",
  "create view dissemination.past with (security_invoker = true) as table disclosed_previous.general; alter view dissemination.past owner to publisher; grant select on dissemination.past to api_public":
    "The view dissemination.past must read only tables of the live data set, but reads disclosed_previous.general",
  "create view dissemination.past as table disclosed_previous.general; alter view dissemination.past owner to publisher; grant select on dissemination.past to api_public":
    "api_public can read dissemination.past, which does not run with its caller's rights",
  "create schema helper; create domain helper.role as text check (set_config('role', value, true) = value); alter table disclosed.general add column more helper.role":
    "disclosed.general.more has the type helper.role",
};
