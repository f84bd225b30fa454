const api = "api_v1_1_0";
/** An API function as a database administrator could make it by hand. */
const apiFunction = (body: string, parameters = "", more = "stable", result = "text") =>
  `create function ${api}.peek(${parameters}) returns ${result} language sql ${more} begin atomic select ${body}; end; alter function ${api}.peek owner to api_owner; grant execute on function ${api}.peek to api_public`;
const definer =
  "language sql stable security definer set search_path = '' as 'select count(*) from suppressed.general'";

/** What was made by hand in a schema that PostgREST serves or searches. */
export const handMade: Record<string, string> = {
  [apiFunction("pg_stat_get_live_tuples(0::oid)::text")]:
    `${api}.peek(): This function calls pg_stat_get_live_tuples(oid), which takes the name or ID of an object`,
  [apiFunction("json_object_agg_unique('a', 1)::text")]:
    `${api}.peek(): This function calls json_object_agg_unique("any","any"), which is not in the list`,
  [apiFunction("current_setting('role')")]:
    `${api}.peek(): This function calls current_setting(text), which is not in the list`,
  [apiFunction("json_object_agg_unique('a', 1) over ()::text")]:
    `${api}.peek(): This function calls json_object_agg_unique("any","any"), which is not in the list`,
  [apiFunction("count(*)::text from (select distinct session_user as name) as names")]:
    `${api}.peek(): This function calls nameeq(name,name), which takes the name`,
  [apiFunction("session_user::text order by session_user")]:
    `${api}.peek(): This function calls namelt(name,name), which takes the name`,
  [apiFunction("reltuples::text from pg_catalog.pg_class limit 1")]:
    `${api}.peek(): This function reads pg_class`,
  [apiFunction("'1'", "", "stable set row_security = off")]:
    `${api}.peek(): This function sets row_security=off`,
  [apiFunction("relation::text", "relation regclass")]:
    `${api}.peek(regclass): This function has a value of the type regclass, which names an object`,
  [apiFunction("relation::text", "variadic relation oid[]")]: "has a value of the type oid[]",
  [apiFunction("json_value(name::jsonb, '$' returning regclass)::text", "name text")]:
    `${api}.peek(text): This function has a value of the type regclass`,
  [apiFunction(
    "count(*)::text from json_table(name::jsonb, '$' columns (n regrole path '$')) as t",
    "name text",
  )]: `${api}.peek(text): This function has a value of the type regrole`,
  [apiFunction("count(*)::text from xmltable('/r' passing ('<r/>'::xml) columns n regproc path 'n') as t")]:
    `${api}.peek(): This function has a value of the type regproc`,
  [apiFunction("'1'; delete from publication.changes where false; select '1'", "", "volatile")]:
    `${api}.peek(): This function writes data`,
  [apiFunction("address::text", "address access.email_address")]:
    `${api}.peek(access.email_address): It uses the domain access.email_address`,
  [`alter view ${api}.findings alter column report_id set default '1'`]:
    "API schemas may not contain casts, domains",
  [`create function ${api}.peek() returns text language plpgsql as 'begin return 1; end'; alter function ${api}.peek owner to api_owner`]: `${api}.peek(): API functions must be SQL functions whose body is parsed`,
  [`create procedure ${api}.peek() language sql begin atomic select 1; end; alter procedure ${api}.peek owner to api_owner`]: `${api}.peek(): API functions must be SQL functions whose body is parsed`,
  [`create view ${api}.sizes with (security_invoker = true) as select relname, reltuples from pg_class; alter view ${api}.sizes owner to api_owner; grant select on ${api}.sizes to api_public`]: `The view ${api}.sizes must read only views of dissemination, but reads pg_class`,
  [`create view ${api}.rows with (security_invoker = true) as select n_live_tup from pg_stat_user_tables; alter view ${api}.rows owner to api_owner`]: `The view ${api}.rows must read only views of dissemination, but reads pg_stat_user_tables`,
  [`create view ${api}.role with (security_invoker = true) as select set_config('role', 'api_tribal', true) as role from dissemination.general; alter view ${api}.role owner to api_owner`]: `The view ${api}.role calls set_config(text,text,boolean)`,
  [`create domain extensions.role as text check (set_config('role', value, true) = value); create view ${api}.converted with (security_invoker = true) as select (report_id::extensions.role)::text as role from dissemination.general; alter view ${api}.converted owner to api_owner`]: `The view ${api}.converted converts values`,
  [`create function request.peek(${api}.general) returns text language plpgsql as 'begin return 1; end'; grant execute on function request.peek to api_public`]: `api_public can run request.peek(${api}.general), which publication.find_listed_functions() does not list for it. Run: revoke execute on routine request.peek(${api}.general) from public, api_public`,
  [`create function request.peek(request.whole_row) returns bigint ${definer}; grant execute on function request.peek to public`]:
    "gateway and authenticator and api_tribal and api_public and api_owner can run request.peek(request.whole_row), which runs with the rights of postgres",
  [`create function request.refuse(${api}.general) returns text language sql return '1'; grant execute on function request.refuse(${api}.general) to api_public`]: `api_public can run request.refuse(${api}.general)`,
  "create function dissemination.step(text, text) returns text language sql return $1; create operator dissemination.@@ (function = dissemination.step, leftarg = text, rightarg = text); grant execute on function dissemination.step to api_public":
    "api_public can run dissemination.step(text,text)",
  "create aggregate request.peek(text) (sfunc = textcat, stype = text); grant execute on function request.peek(text) to api_public":
    "api_public can run request.peek(text)",
  "create domain request.role as text check (set_config('role', value, true) = value)":
    "The type request.role could run code with the rights of api_public. Run: drop type request.role",
  "create type request.span as range (subtype = text)": "The type request.span could run code",
  "create type extensions.key as (n integer); create function extensions.keyed(extensions.key) returns integer language sql return 1; create cast (extensions.key as integer) with function extensions.keyed":
    "A cast made by hand runs extensions.keyed(extensions.key) with the rights of its caller. Run: drop cast (extensions.key as integer)",
};

/** Rights of roles that may read no data. */
export const strayRights: Record<string, string> = {
  "create table publication.copy as table suppressed.general; grant select on publication.copy to report_service":
    "report_service can read publication.copy, which publication.find_listed_relations() does not list for it. Run: revoke all on publication.copy from public, report_service cascade",
  "create view request.copy as table suppressed.general; grant select on request.copy to gateway":
    "gateway can read request.copy, which publication.find_listed_relations() does not list",
  "grant select (report_id) on disclosed.general to authenticator":
    "authenticator can read disclosed.general",
  "grant select on access.api_keys to report_service": "report_service can read access.api_keys",
  "grant insert on access.downloads to report_service": "report_service can change access.downloads",
  [`create function publication.peek() returns bigint ${definer}; grant execute on function publication.peek to report_service`]:
    "report_service can run publication.peek(), which runs with the rights of postgres. Run: revoke execute on routine publication.peek() from public, report_service",
  [`create function publication.peek() returns bigint ${definer}; grant execute on function publication.peek to authenticator`]:
    "authenticator can run publication.peek()",
  "grant execute on function access.redeem_access_token to site": "site can run access.redeem_access_token",
  "grant execute on function publication.find_leaks to report_service":
    "report_service can run publication.find_leaks",
  "grant execute on function request.decide to api_public": "api_public can run request.decide()",
  "create function publication.peek() returns text language plpgsql as 'begin return 1; end'; grant execute on function publication.peek to report_service":
    "report_service can run publication.peek()",
  "do $$ begin execute format('grant select on %s to api_public', (select reltoastrelid::regclass from pg_class where oid = 'suppressed.findings_text'::regclass)); end $$":
    "api_public may use toast table pg_toast.pg_toast_",
  "grant api_tribal to authenticator with admin option":
    "authenticator must not have the admin option on api_tribal, with which it could grant the role to others. Run: revoke admin option for api_tribal from authenticator",
  "alter role api_owner createrole":
    "api_owner has createrole, so it can grant itself roles. Run: alter role api_owner nocreaterole",
  "alter role report_service createrole": "report_service has createrole",
  "alter role report_service createdb": "report_service has createdb",
  "do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$":
    "site and report_service and gateway and authenticator and api_tribal and api_public and api_owner can create objects in the database ",
  "grant create on schema request to site":
    "site can create objects in the schema request, which functions with other rights could use. Run: revoke create on schema request from public, site",
  "create view extensions.monitoring as select 1 as one; grant select on extensions.monitoring to public":
    "which is not part of the data set or the API. Run: revoke all on extensions.monitoring from public, api_owner, api_public, api_tribal cascade",
  "alter table disclosed.findings owner to postgres":
    "disclosed.findings belongs to postgres. Only publisher may own the data set. Drop it, or run: alter table disclosed.findings owner to publisher",
  "create schema helper authorization publisher": "Drop it, or run: alter schema helper owner to postgres",
  ...Object.fromEntries(
    Object.entries({
      truncate: "findings",
      trigger: "passthrough",
      maintain: "federal_awards",
      delete: "notes_to_sefa",
    }).map(([privilege, table]) => [
      `grant ${privilege} on disclosed.${table} to api_public`,
      `api_public can change disclosed.${table}. Run: revoke insert,`,
    ]),
  ),
  "alter default privileges for role publisher grant usage on schemas to api_public":
    "Default privileges of publisher grant USAGE on future objects to api_public",
  "alter default privileges for role publisher grant select on large objects to api_public":
    "Default privileges of publisher grant SELECT on future objects to api_public",
  "create policy tribal_update on suppressed.general for update to api_tribal using (true)":
    "The policy tribal_update on suppressed.general has a condition",
  "insert into suppressed.resubmission (report_id, auditee_uei, status) select report_id, auditee_uei, 'most_recent' from disclosed.general limit 1":
    "disclosed.general reveals data of suppressed submissions",
};

/** What breaks a rule for API objects without being a leak. */
export const brokenRules: Record<string, string> = {
  "alter default privileges for role api_owner grant select on tables to key_operator":
    "default privileges of api_owner: Do not grant privileges on future objects",
  [`grant select on ${api}.general to api_public with grant option`]: `${api}.general: SELECT is granted to api_public with grant option`,
  [`grant select on ${api}.general to key_operator`]: `${api}.general: SELECT is granted to key_operator`,
  [`grant select (report_id) on ${api}.general to public`]: `${api}.general.report_id: SELECT is granted to PUBLIC`,
  [`comment on view ${api}.general is null`]: `${api}.general: This object has no comment`,
};

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
  "alter role api_public superuser": "api_public is a superuser",
  "alter role gateway bypassrls": "gateway has bypassrls",
  "alter role api_owner bypassrls": "api_owner has bypassrls",
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
    "api_agency has bypassrls",
  "alter table suppressed.additional_eins inherit disclosed.additional_eins":
    "suppressed.additional_eins inherits from disclosed.additional_eins",
  "set local role publisher; insert into disclosed.general select (jsonb_populate_record(null::disclosed.general, to_jsonb(general) || jsonb_build_object('is_public', true))).* from suppressed.general limit 1; reset role":
    "disclosed.general reveals data of suppressed submissions",
  "insert into publication.suppressed_reports (report_id) select report_id from disclosed.general limit 1":
    "disclosed.general reveals data of suppressed submissions",
  "alter table disclosed.federal_awards drop constraint federal_awards_report_id_is_in_general; insert into disclosed.federal_awards select * from suppressed.federal_awards limit 1":
    "disclosed.federal_awards reveals data of suppressed submissions",
  "alter table publication.suppressed_reports rename to remembered":
    "publication.suppressed_reports does not exist, so reports that were suppressed could become public",
  "insert into access.events (at, database_role, subject, subject_id, action) select '2020-01-01', 'owner', 'suppressed_reports', report_id, 'delete' from suppressed.general; delete from publication.suppressed_reports":
    "publication.suppressed_reports lacks reports that are suppressed now, so they could become public",
  "alter table publication.suppressed_reports rename to remembered; create table publication.suppressed_reports (report_id text primary key)":
    "publication.suppressed_reports lacks reports that are suppressed now, so they could become public",
  "alter function access.redeem_access_token set search_path = extensions":
    "report_service can run access.redeem_access_token(uuid) with the rights of postgres and a search_path other than ''",
  "alter table disclosed.notes_to_sefa alter report_id drop not null; update disclosed.notes_to_sefa set report_id = null where ctid = (select min(ctid) from disclosed.notes_to_sefa)":
    "disclosed.notes_to_sefa reveals data of suppressed submissions, or has rows without a report_id",
  "update disclosed.resubmission set previous_report_id = (select report_id from suppressed.general limit 1) where report_id = (select report_id from disclosed.resubmission limit 1)":
    "disclosed.resubmission reveals data of suppressed submissions",
  "insert into disclosed.resubmission (report_id, auditee_uei, status) select previous_report_id, auditee_uei, 'deprecated_via_resubmission' from suppressed.resubmission where previous_report_id is not null limit 1":
    "disclosed.resubmission has a status that reveals a later suppressed submission",
  "update disclosed.general set resubmission_version = 2 where report_id in (select next_report_id from suppressed.resubmission) and report_id not in (select report_id from disclosed.resubmission)":
    "disclosed.general has a resubmission_version that reveals an earlier suppressed submission",
  "create materialized view disclosed.copy as table suppressed.general; alter materialized view disclosed.copy owner to publisher; grant select on disclosed.copy to api_public;":
    "api_public can read disclosed.copy, which",
  "create table disclosed.names as select auditee_name from suppressed.general":
    "disclosed.names has no report_id",
  "alter table disclosed.data_set add column names text[]": "disclosed.data_set has no report_id",
  "insert into disclosed.data_set select md5(auditee_name)::uuid, now(), now() from suppressed.general where auditee_name is not null limit 1":
    "disclosed.data_set should have exactly one row",
  "create or replace function publication.is_public_report(asked_report_id text) returns boolean language sql stable security definer set search_path = '' as $$ select exists (select from dissemination.general where report_id = asked_report_id) $$":
    "is_public_report() returns true for suppressed reports",
  "do $$ begin execute replace(pg_get_functiondef('publication.search_reports(jsonb, integer)'::regprocedure), 'disclosed.general', 'dissemination.general'); end $$":
    "search_reports() finds suppressed reports",
  "do $$ begin execute replace(pg_get_functiondef('publication.describe_report(text)'::regprocedure), 'from disclosed.general', 'from suppressed.general'); end $$":
    "describe_report() returns suppressed reports",
  "update suppressed.general set auditee_name = 'Hidden Nation'; do $$ begin execute replace(pg_get_functiondef('publication.suggest_names(text)'::regprocedure), 'disclosed.general', 'suppressed.general'); end $$":
    "suggest_names() returns names of suppressed reports' auditees",
  "create or replace function publication.describe_totals() returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('totals_by_state', jsonb_build_array(jsonb_build_object('submissions', count(*)))) from (select from disclosed.general union all select from suppressed.general) as rows $$":
    "describe_totals() should count all public submissions and no others",
  "create or replace function publication.describe_programs(asked_year text, sort text, skipped integer, most integer) returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('programs', jsonb_build_array(jsonb_build_object('awards', count(*)))) from (select from disclosed.federal_awards union all select from suppressed.federal_awards) as rows $$":
    "describe_programs() should count all public awards and no others",
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
    "suppressed.findings belongs to api_owner. Only publisher may own the data set. Drop it, or run: alter table suppressed.findings owner to publisher",
  "alter table disclosed_previous.findings owner to api_owner":
    "table disclosed_previous.findings: api_owner may own only API schemas",
  "alter schema suppressed owner to postgres":
    "The schema suppressed belongs to postgres. Run: alter schema suppressed owner to publisher",
  "create schema helper authorization publisher": "publisher must not own schema helper",
  "grant pg_read_all_data to api_tribal": "api_tribal must not be a member of pg_read_all_data",
  "alter role report_service replication": "report_service has the attribute replication",
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
  "create view dissemination.sizes with (security_invoker = true) as select relname, n_live_tup from pg_stat_user_tables; alter view dissemination.sizes owner to publisher; grant select on dissemination.sizes to api_public":
    "The view dissemination.sizes must read only tables of the live data set, but reads pg_stat_user_tables",
  "create view dissemination.past with (security_invoker = true) as table disclosed_previous.general; alter view dissemination.past owner to publisher; grant select on dissemination.past to api_public":
    "The view dissemination.past must read only tables of the live data set, but reads disclosed_previous.general",
  "create view dissemination.past as table disclosed_previous.general; alter view dissemination.past owner to publisher; grant select on dissemination.past to api_public":
    "api_public can read dissemination.past, which does not run with its caller's rights",
  "create schema helper; create domain helper.role as text check (set_config('role', value, true) = value); alter table disclosed.general add column more helper.role":
    "disclosed.general.more has the type helper.role",
};
