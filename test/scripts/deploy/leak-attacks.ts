const api = "api_v1_1_0";
/** An API function as a database administrator could make it by hand. */
const apiFunction = (body: string, parameters = "", more = "stable", result = "text") =>
  `create function ${api}.peek(${parameters}) returns ${result} language sql ${more} begin atomic select ${body}; end; alter function ${api}.peek owner to api_owner; grant execute on function ${api}.peek to api_public`;
const definer =
  "language sql stable security definer set search_path = '' as 'select count(*) from suppressed.general'";

/** What was made by hand in a schema that PostgREST serves or searches. */
export const handMade: Record<string, string> = {
  [apiFunction("pg_stat_get_live_tuples(0::oid)::text")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("json_object_agg_unique('a', 1)::text")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("current_setting('role')")]: "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("json_object_agg_unique('a', 1) over ()::text")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("count(*)::text from (select distinct session_user as name) as names")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("session_user::text order by session_user")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("reltuples::text from pg_catalog.pg_class limit 1")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("'1'", "", "stable set row_security = off")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("relation::text", "relation regclass")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek(regclass)",
  [apiFunction("relation::text", "variadic relation oid[]")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek(oid[])",
  [apiFunction("json_value(name::jsonb, '$' returning regclass)::text", "name text")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek(text)",
  [apiFunction(
    "count(*)::text from json_table(name::jsonb, '$' columns (n regrole path '$')) as t",
    "name text",
  )]: "Unlisted: api_public may execute on function api_v1_1_0.peek(text)",
  [apiFunction("count(*)::text from xmltable('/r' passing ('<r/>'::xml) columns n regproc path 'n') as t")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("'1'; delete from publication.changes where false; select '1'", "", "volatile")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  [apiFunction("address::text", "address access.email_address")]:
    "Unlisted: api_public may execute on function api_v1_1_0.peek(access.email_address)",
  [`alter view ${api}.findings alter column report_id set default '1'`]:
    "Unlisted: column api_v1_1_0.findings.report_id computes '1'::text",
  [`create function ${api}.peek() returns text language plpgsql as 'begin return 1; end'; alter function ${api}.peek owner to api_owner`]:
    "Unlisted: function api_v1_1_0.peek()",
  [`create procedure ${api}.peek() language sql begin atomic select 1; end; alter procedure ${api}.peek owner to api_owner`]:
    "Unlisted: api_owner owns procedure api_v1_1_0.peek()",
  [`create view ${api}.sizes with (security_invoker = true) as select relname, reltuples from pg_class; alter view ${api}.sizes owner to api_owner; grant select on ${api}.sizes to api_public`]:
    "Unlisted: api_public may select on table api_v1_1_0.sizes",
  [`create view ${api}.rows with (security_invoker = true) as select n_live_tup from pg_stat_user_tables; alter view ${api}.rows owner to api_owner`]:
    "Unlisted: view api_v1_1_0.rows (security_invoker=true): SELECT columns FROM pg_stat_user_tables",
  [`create view ${api}.role with (security_invoker = true) as select set_config('role', 'api_tribal', true) as role from dissemination.general; alter view ${api}.role owner to api_owner`]:
    "Unlisted: view api_v1_1_0.role (security_invoker=true): SELECT set_config('role'::text, 'api_tribal'::text, true) AS role FROM dissemination.general",
  [`create domain extensions.role as text check (set_config('role', value, true) = value); create view ${api}.converted with (security_invoker = true) as select (report_id::extensions.role)::text as role from dissemination.general; alter view ${api}.converted owner to api_owner`]:
    "Unlisted: view api_v1_1_0.converted (security_invoker=true): SELECT ((report_id)::extensions.role)::text AS role FROM dissemination.general",
  [`create function request.peek(${api}.general) returns text language plpgsql as 'begin return 1; end'; grant execute on function request.peek to api_public`]:
    "Unlisted: api_public may execute on function request.peek(api_v1_1_0.general)",
  [`create function request.peek(request.whole_row) returns bigint ${definer}; grant execute on function request.peek to public`]:
    "Unlisted: PUBLIC may execute on function request.peek(request.whole_row)",
  [`create function request.refuse(${api}.general) returns text language sql return '1'; grant execute on function request.refuse(${api}.general) to api_public`]:
    "Unlisted: api_public may execute on function request.refuse(api_v1_1_0.general)",
  "create function dissemination.step(text, text) returns text language sql return $1; create operator dissemination.@@ (function = dissemination.step, leftarg = text, rightarg = text); grant execute on function dissemination.step to api_public":
    "Unlisted: api_public may execute on function dissemination.step(text,text)",
  "create aggregate request.peek(text) (sfunc = textcat, stype = text); grant execute on function request.peek(text) to api_public":
    "Unlisted: api_public may execute on function request.peek(text)",
  "create domain request.role as text check (set_config('role', value, true) = value)":
    "Unlisted: type request.role is a domain over text CHECK ((set_config('role'::text, VALUE, true) = VALUE))",
  "create type request.span as range (subtype = text)": "Unlisted: type request.span is a range",
  "create type extensions.key as (n integer); create function extensions.keyed(extensions.key) returns integer language sql return 1; create cast (extensions.key as integer) with function extensions.keyed":
    "Unlisted: cast (extensions.key as integer) with function extensions.keyed(extensions.key)",
};

/** Rights of roles that may read no data. */
export const strayRights: Record<string, string> = {
  "create table publication.copy as table suppressed.general; grant select on publication.copy to report_service":
    "Unlisted: report_service may select on table publication.copy",
  "create view request.copy as table suppressed.general; grant select on request.copy to gateway":
    "Unlisted: gateway may select on table request.copy",
  "grant select (report_id) on disclosed.general to authenticator":
    "Unlisted: authenticator may select (report_id) on table disclosed.general",
  "grant select on access.api_keys to report_service":
    "Unlisted: report_service may select on table access.api_keys",
  "grant insert on access.downloads to report_service":
    "Unlisted: report_service may insert on table access.downloads",
  [`create function publication.peek() returns bigint ${definer}; grant execute on function publication.peek to report_service`]:
    "Unlisted: report_service may execute on function publication.peek()",
  [`create function publication.peek() returns bigint ${definer}; grant execute on function publication.peek to authenticator`]:
    "Unlisted: authenticator may execute on function publication.peek()",
  // Any role may run code in a trusted language.
  "create trusted language other handler plpgsql_call_handler":
    "Unlisted: PUBLIC may usage on language other",
  "grant execute on function access.redeem_access_token to site":
    "Unlisted: site may execute on function access.redeem_access_token(uuid)",
  "grant execute on function publication.find_leaks to report_service":
    "Unlisted: report_service may execute on function publication.find_leaks(boolean,text)",
  "grant execute on function request.decide to api_public":
    "Unlisted: api_public may execute on function request.decide()",
  "create function publication.peek() returns text language plpgsql as 'begin return 1; end'; grant execute on function publication.peek to report_service":
    "Unlisted: report_service may execute on function publication.peek()",
  "do $$ begin execute format('grant select on %s to api_public', (select reltoastrelid::regclass from pg_class where oid = 'suppressed.findings_text'::regclass)); end $$":
    "Unlisted: api_public may select on table pg_toast.pg_toast_",
  "grant api_tribal to authenticator with admin option":
    "Unlisted: authenticator may grant api_tribal to others",
  "alter role api_owner createrole":
    "api_owner has createrole, so it can grant itself roles. Run: alter role api_owner nocreaterole",
  "alter role report_service createrole": "report_service has createrole",
  "alter role report_service createdb": "report_service has createdb",
  "do $$ begin execute format('grant temporary on database %I to public', current_database()); end $$":
    "Unlisted: PUBLIC may temporary on database",
  "grant create on schema request to site": "Unlisted: site may create on schema request",
  "create view extensions.monitoring as select 1 as one; grant select on extensions.monitoring to public":
    "Unlisted: PUBLIC may select on table extensions.monitoring",
  "alter table disclosed.findings owner to postgres":
    "Unlisted: the deploying role owns table disclosed.findings",
  "create schema helper authorization publisher": "Unlisted: publisher owns schema helper",
  ...Object.fromEntries(
    Object.entries({
      truncate: "findings",
      trigger: "passthrough",
      maintain: "federal_awards",
      delete: "notes_to_sefa",
    }).map(([privilege, table]) => [
      `grant ${privilege} on disclosed.${table} to api_public`,
      `Unlisted: api_public may ${privilege} on table disclosed.${table}. Run: revoke ${privilege}`,
    ]),
  ),
  "alter default privileges for role publisher grant usage on schemas to api_public":
    "Unlisted: objects that publisher creates: api_public may usage on schemas",
  "alter default privileges for role publisher grant select on large objects to api_public":
    "Unlisted: objects that publisher creates: api_public may select on large objects",
  "create policy tribal_update on suppressed.general for update to api_tribal using (true)":
    "Unlisted: policy tribal_update on suppressed.general for update to api_tribal using (true)",
  ...Object.fromEntries(
    [
      "select distinct report_id::name as report_id from disclosed.general",
      "select report_id from disclosed.general order by report_id::name",
      "select json_object_agg_unique(report_id, 1) over ()::text as report_id from disclosed.general",
      "select aclcontains(null, null)::text as report_id",
    ].map((query) => [
      `create materialized view disclosed.copy as ${query}; alter materialized view disclosed.copy owner to publisher`,
      "Unlisted: publisher owns materialized view disclosed.copy",
    ]),
  ),
  "alter default privileges for role api_owner grant select on tables to key_operator":
    "Unlisted: objects that api_owner creates: key_operator may select on tables",
  [`grant select on ${api}.general to api_public with grant option`]: `api_public may select on table ${api}.general, and may grant it`,
  [`grant select on ${api}.general to key_operator`]: `key_operator may select on table ${api}.general`,
  [`grant select (report_id) on ${api}.general to public`]: `PUBLIC may select (report_id) on table ${api}.general`,
};

/** Settings, other roles and code that would run with more rights than its caller's. */
export const detours: Record<string, string> = {
  "alter role authenticator set pgrst.db_schemas = 'access'":
    "Unlisted: authenticator sets pgrst.db_schemas=access. Run: alter role authenticator reset pgrst.db_schemas",
  "do $$ begin execute format('alter database %I set row_security = off', current_database()); end $$":
    "Unlisted: the database sets row_security=off",
  "alter role api_public set role = 'api_tribal'": "Unlisted: api_public sets role=api_tribal",
  "alter role api_public login": "Unlisted: api_public may log in. Run: alter role api_public nologin",
  "create role middle in role api_tribal; grant middle to authenticator":
    "Unlisted: middle may become api_tribal. Run: revoke api_tribal from middle",
  "create role analyst; grant select on suppressed.general to analyst":
    "Unlisted: analyst may select on table suppressed.general",
  "create role reader; grant select on access.api_keys to reader; grant reader to report_service":
    "Unlisted: report_service may become reader",
  "grant gateway to authenticator with inherit true":
    "Unlisted: authenticator inherits the rights of gateway",
  "grant deployment_planner to site": "Unlisted: site may become deployment_planner",
  "grant pg_read_server_files to publisher": "Unlisted: publisher may become pg_read_server_files",
  "grant set on parameter session_replication_role to publisher":
    "Unlisted: publisher may set on parameter session_replication_role",
  "grant select on pg_authid to publisher": "Unlisted: publisher may select on table pg_catalog.pg_authid",
  "create role api_agency; comment on role api_agency is 'Single Audit API: another'":
    "Unlisted: api_agency is a role",
  "alter function publication.list_matches(jsonb, text[], integer) security definer":
    "Unlisted: function publication.list_matches(jsonb,text[],integer) runs as the deploying role",
  "alter function publication.describe_report(text, integer) set row_security = off":
    "Unlisted: function publication.describe_report(text,integer) runs as the deploying role",
  "alter function publication.search_programs(text) reset search_path":
    "Unlisted: function publication.search_programs(text) runs as the deploying role with a search_path",
  "alter function request.pre_config() owner to publisher":
    "Unlisted: publisher owns function request.pre_config()",
  "create function pg_catalog.shout(text) returns text language sql return $1; grant execute on function pg_catalog.shout to public":
    "Unlisted: PUBLIC may execute on function shout(text)",
  "create or replace function access.refuse_removal() returns trigger language plpgsql as 'begin return old; end'":
    "Unlisted: function access.refuse_removal(): ",
  "alter table access.events disable trigger events_refuse_removal":
    "Missing: trigger events_refuse_removal on access.events: ",
  "drop trigger api_keys_record_update on access.api_keys":
    "Missing: trigger api_keys_record_update on access.api_keys: ",
  "create publication everything for all tables":
    "Unlisted: publication everything of all tables. Run: drop publication everything",
  "create publication parts for tables in schema suppressed":
    "Unlisted: publication parts of schema suppressed",
  "create function public.watch() returns event_trigger language plpgsql as 'begin end'; create event trigger watch on ddl_command_end execute function public.watch()":
    "Unlisted: event trigger watch: public.watch(). Run: drop event trigger watch",
  "create extension dblink schema extensions":
    "Unlisted: extension dblink in the schema extensions. Run: drop extension dblink",
  "create foreign data wrapper near; create server near foreign data wrapper near; grant usage on foreign server near to publisher":
    "Unlisted: publisher may usage on foreign server near",
  "create operator request.=== (function = texteq, leftarg = text, rightarg = text)":
    "Unlisted: operator request.===(text,text) calls texteq. Run: drop operator request.===(text,text)",
  "create cast (text as access.email_address) with inout": "Unlisted: cast (text as access.email_address)",
  "create policy slow on suppressed_previous.general using (pg_sleep(1) is null)":
    "Unlisted: policy slow on suppressed_previous.general",
  "create schema disclosed_next; create table disclosed_next.rows as table suppressed.general; grant usage on schema disclosed_next to public":
    "Unlisted: the deploying role owns table disclosed_next.rows",
  "alter policy tribal_access on suppressed.findings to public":
    "Unlisted: policy tribal_access on suppressed.findings for select to public using (true)",
  "drop policy tribal_access on suppressed.passthrough":
    "Missing: policy tribal_access on suppressed.passthrough",
  "alter default privileges for role postgres in schema access grant execute on functions to api_public":
    "Unlisted: objects that the deploying role creates in schema access: api_public may execute on functions",
  "create role clerk createrole; grant select on suppressed.general to clerk":
    "Unlisted: clerk may select on table suppressed.general",
  "create role hirer createrole; grant api_tribal to hirer": "Unlisted: hirer may become api_tribal",
  [`create view ${api}.copy as table suppressed.general; alter extension pg_trgm add view ${api}.copy; grant select on ${api}.copy to api_public; alter view ${api}.copy owner to api_owner`]:
    "Unlisted: api_public may select on table api_v1_1_0.copy",
  "create view request.copy as table suppressed.general; grant select on request.copy to site; alter extension pg_trgm add view request.copy":
    "Unlisted: site may select on table request.copy",
  [`create function request.peek() returns bigint ${definer}; grant execute on function request.peek to api_public; alter extension pg_trgm add function request.peek()`]:
    "Unlisted: api_public may execute on function request.peek()",
  [`create function extensions.peek() returns bigint ${definer}; grant execute on function extensions.peek to public; alter extension unaccent add function extensions.peek()`]:
    "Unlisted: function extensions.peek() runs as the deploying role",
  "create or replace function extensions.unaccent(text) returns text language plpgsql as 'begin perform set_config(''role'', ''api_tribal'', true); return $1; end'":
    "Unlisted: function extensions.unaccent(text): ",
  "drop trigger downloads_refuse_removal on access.downloads; create trigger downloads_refuse_removal before delete or truncate on access.downloads for each statement when (false) execute function access.refuse_removal()":
    "Unlisted: trigger downloads_refuse_removal on access.downloads: BEFORE DELETE OR TRUNCATE",
  "alter table access.api_keys enable replica trigger api_keys_keep":
    "Unlisted: trigger api_keys_keep on access.api_keys (disabled)",
  "do $$ begin execute 'create or replace view access.key_overview as ' || replace(pg_get_viewdef('access.key_overview'::regclass), 'key_status.replaces_id', 'key_status.replaces_id, key_status.key_sha256'); end $$":
    "Unlisted: view access.key_overview: ",
  "create view information_schema.copy as table suppressed.general; grant select on information_schema.copy to public":
    "Unlisted: PUBLIC may select on table information_schema.copy",
  "alter function pg_catalog.query_to_xml(text, boolean, boolean, text) security definer":
    "Unlisted: function query_to_xml(text,boolean,boolean,text) runs as the deploying role",
};

/** SQL that makes functions read other tables than they should. */
const rewrite = (names: string, from: string, to: string) =>
  names
    .split(" ")
    .map(
      (name) =>
        `do $$ begin execute replace(pg_get_functiondef('publication.${name}'::regproc), '${from}', '${to}'); end $$`,
    )
    .join("; ");
const withSuppressed = (names: string) => rewrite(names, "disclosed.general", "dissemination.general");
/** Gives a suppressed report the UEI of a public one. */
const shareUei =
  "update suppressed.general set auditee_uei = (select min(auditee_uei) from disclosed.general where auditee_uei ~ '^[A-Z0-9]{12}$')";
const recordChange =
  "insert into publication.changes (from_data_set, to_data_set, added, changed, removed) select id, id, array(select report_id from suppressed.general), '{}', '{}' from publication.data_sets limit 1";

/** What a database's owner or publisher could run, and what find_leaks() then reports. */
export const attacks: Record<string, string> = {
  "create view api_v1_1_0.bare as table suppressed.general; grant select on api_v1_1_0.bare to api_public; alter view api_v1_1_0.bare owner to api_owner; grant usage on schema suppressed to api_owner; grant select on suppressed.general to api_owner; create policy builder on suppressed.general to api_owner using (true)":
    "Unlisted: policy builder on suppressed.general for all to api_owner using (true)",
  "create view api_v1_1_0.bare as table suppressed.general; grant select on api_v1_1_0.bare to api_public;":
    "Unlisted: api_public may select on table api_v1_1_0.bare",
  "create schema helper; create view helper.bare as table suppressed.findings; grant usage on schema helper to api_public; grant select on helper.bare to api_public;":
    "Unlisted: api_public may select on table helper.bare",
  "create schema helper; create table helper.copy as table suppressed.findings; grant select on helper.copy to api_public;":
    "Unlisted: api_public may select on table helper.copy",
  "create function api_v1_1_0.peek() returns text language plpgsql as $$ begin perform set_config('role', 'api_tribal', true); return (select string_agg(auditee_name, ',') from suppressed.general); end $$; grant execute on function api_v1_1_0.peek() to api_public":
    "Unlisted: api_public may execute on function api_v1_1_0.peek()",
  "grant select (owner_email) on access.api_keys to api_public":
    "Unlisted: api_public may select (owner_email) on table access.api_keys",
  "create function api_v1_1_0.all_suppressed() returns setof suppressed.general language sql stable security definer set search_path = '' as 'table suppressed.general'; grant execute on function api_v1_1_0.all_suppressed() to api_public;":
    "Unlisted: api_public may execute on function api_v1_1_0.all_suppressed()",
  "create function extensions.peek() returns bigint language sql stable security definer set search_path = '' as 'select count(*) from suppressed.general'; grant execute on function extensions.peek() to public":
    "Unlisted: PUBLIC may execute on function extensions.peek()",
  "alter view dissemination.findings reset (security_invoker)":
    "Unlisted: view dissemination.findings: SELECT columns FROM disclosed.findings UNION ALL SELECT columns FROM suppressed.findings",
  "alter role api_public superuser": "api_public is a superuser",
  "alter role gateway bypassrls": "gateway has bypassrls",
  "alter role api_owner bypassrls": "api_owner has bypassrls",
  "grant api_tribal to api_public;": "Unlisted: api_public may become api_tribal",
  "grant publisher to report_service": "Unlisted: report_service may become publisher",
  "grant publisher to authenticator": "Unlisted: authenticator may become publisher",
  "alter table suppressed.general owner to api_public": "Unlisted: api_public owns table suppressed.general",
  "create policy all_of_it on suppressed.passthrough for select to api_public using (true)":
    "Unlisted: policy all_of_it on suppressed.passthrough for select to api_public using (true)",
  "alter table suppressed.general disable row level security":
    "Missing: row-level security on suppressed.general",
  "create view suppressed.names as select auditee_name from suppressed.general":
    "Unlisted: view suppressed.names: SELECT columns FROM suppressed.general",
  "alter table access.tiers drop constraint tiers_only_tribal_sees_suppressed; update access.tiers set database_role = 'api_tribal' where name = 'individual'":
    "The tier individual uses the role api_tribal",
  "create role api_agency bypassrls; alter table access.tiers drop constraint tiers_database_role_is_served; update access.tiers set database_role = 'api_agency' where name = 'individual'":
    "The tier individual uses the role api_agency",
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
    "Unlisted: function access.redeem_access_token(uuid) runs as the deploying role",
  "alter table disclosed.notes_to_sefa alter report_id drop not null; update disclosed.notes_to_sefa set report_id = null where ctid = (select min(ctid) from disclosed.notes_to_sefa)":
    "disclosed.notes_to_sefa reveals data of suppressed submissions, or has rows without a report_id",
  "update disclosed.resubmission set previous_report_id = (select report_id from suppressed.general limit 1) where report_id = (select report_id from disclosed.resubmission limit 1)":
    "disclosed.resubmission reveals data of suppressed submissions",
  "insert into suppressed.resubmission (report_id, auditee_uei, status) select report_id, auditee_uei, 'most_recent' from disclosed.general limit 1":
    "disclosed.general reveals data of suppressed submissions",
  "insert into disclosed.resubmission (report_id, auditee_uei, status) select previous_report_id, auditee_uei, 'deprecated_via_resubmission' from suppressed.resubmission where previous_report_id is not null limit 1":
    "disclosed.resubmission has a status that reveals a later suppressed submission",
  "update disclosed.general set resubmission_version = 2 where report_id in (select next_report_id from suppressed.resubmission) and report_id not in (select report_id from disclosed.resubmission)":
    "disclosed.general has a resubmission_version that reveals an earlier suppressed submission",
  "create materialized view disclosed.copy as table suppressed.general; alter materialized view disclosed.copy owner to publisher; grant select on disclosed.copy to api_public;":
    "Unlisted: publisher owns materialized view disclosed.copy",
  "create materialized view disclosed.counts as select audit_year, count(*) as submissions from (table disclosed.general union all table suppressed.general) as rows group by 1; alter materialized view disclosed.counts owner to publisher; grant select on disclosed.counts to api_public;":
    "Unlisted: publisher owns materialized view disclosed.counts",
  "create table disclosed.names as select auditee_name from suppressed.general":
    "disclosed.names has no report_id",
  "alter table disclosed.data_set add column names text[]": "disclosed.data_set has no report_id",
  "insert into disclosed.data_set select md5(auditee_name)::uuid, now(), now() from suppressed.general where auditee_name is not null limit 1":
    "disclosed.data_set should have exactly one row",
  "create or replace function publication.is_public_report(asked_report_id text) returns boolean language sql stable security definer set search_path = '' as $$ select exists (select from dissemination.general where report_id = asked_report_id) $$":
    "is_public_report() returns true for suppressed reports",
  "do $$ begin execute replace(pg_get_functiondef('publication.search_reports(jsonb, integer)'::regprocedure), 'disclosed.general', 'dissemination.general'); end $$":
    "search_reports() finds suppressed reports",
  "do $$ begin execute replace(pg_get_functiondef('publication.describe_report(text, integer)'::regprocedure), 'from disclosed.general', 'from suppressed.general'); end $$":
    "describe_report() returns suppressed reports",
  "do $$ begin execute replace(pg_get_functiondef('publication.list_report_rows(text, text)'::regprocedure), 'from disclosed.general', 'from suppressed.general'); end $$":
    "list_report_rows() returns rows of suppressed reports",
  "update suppressed.general set auditee_uei = 'HHHHHHHH1234'; do $$ begin execute replace(pg_get_functiondef('publication.list_auditee_reports(text)'::regprocedure), 'disclosed.general', 'suppressed.general'); end $$":
    "describe_auditee() knows auditees that have only suppressed reports",
  "update suppressed.general set auditee_name = 'Hidden Nation'; do $$ begin execute replace(pg_get_functiondef('publication.suggest_names(text, text, text)'::regprocedure), 'disclosed.general', 'suppressed.general'); end $$":
    "suggest_names() returns names that only suppressed reports have",
  [`update suppressed.general set auditee_name = null, auditor_firm_name = 'Hidden Auditors'; ${withSuppressed("suggest_names")}`]:
    "suggest_names() returns names that only suppressed reports have",
  "do $$ begin execute replace(replace(pg_get_functiondef('publication.search_findings(jsonb, integer)'::regprocedure), 'disclosed.finding_summaries as', '(select (jsonb_populate_record(null::disclosed.finding_summaries, to_jsonb(general) || ''{\"reference_number\": \"1\", \"alns\": []}'')).* from suppressed.general) as'), 'join disclosed.general', 'join suppressed.general'); end $$":
    "search_findings() finds suppressed reports",
  "do $$ begin execute replace(replace(pg_get_functiondef('publication.export_findings(jsonb)'::regprocedure), 'disclosed.finding_summaries as', '(select (jsonb_populate_record(null::disclosed.finding_summaries, to_jsonb(general) || ''{\"reference_number\": \"1\", \"alns\": []}'')).* from suppressed.general) as'), 'join disclosed.general', 'join suppressed.general'); end $$":
    "export_findings() returns suppressed reports",
  "do $$ begin execute replace(replace(pg_get_functiondef('publication.describe_findings(jsonb)'::regprocedure), 'disclosed.finding_summaries as', '(select (jsonb_populate_record(null::disclosed.finding_summaries, to_jsonb(general) || ''{\"reference_number\": \"1\", \"alns\": []}'')).* from suppressed.general) as'), 'join disclosed.general', 'join suppressed.general'); end $$":
    "describe_findings() counts findings of suppressed reports",
  [withSuppressed("check_reports list_reports_of")]: "check_reports() finds suppressed reports",
  [`update suppressed.resubmission set next_report_id = (select max(report_id) from disclosed.general); ${rewrite("list_successors", "disclosed.resubmission", "dissemination.resubmission")}`]:
    "list_successors() knows what suppressed reports replace, or what replaces them",
  "create or replace function publication.list_successors(ids text[]) returns jsonb language sql stable strict security definer set search_path = '' as $$ select coalesce(jsonb_agg(jsonb_build_object('successor_id', report_id)), '[]') from suppressed.resubmission where previous_report_id = any (ids) $$":
    "list_successors() knows what suppressed reports replace, or what replaces them",
  [`${recordChange}; ${rewrite("list_changes", "from disclosed.search_terms as terms", "from (select report_id, wanted_terms as terms from dissemination.general) as terms")}`]:
    "list_changes() counts reports that are suppressed now",
  [`${recordChange}; ${withSuppressed("describe_changed_reports describe_results")}`]:
    "describe_changes() describes or names suppressed reports",
  [`update suppressed.general set auditee_uei = 'HHHHHHHH1234'; ${withSuppressed("suggest_ids")}`]:
    "suggest_ids() returns UEIs or EINs that only suppressed reports have",
  [`update suppressed.general set auditee_name = 'Hidden Nation', auditee_uei = 'HHHHHHHH1234'; ${withSuppressed("list_named_ids")}`]:
    "list_named_ids() knows names or IDs of suppressed reports",
  [`update suppressed.general set auditor_firm_name = 'Hidden Auditors', auditor_ein = '998877664'; ${withSuppressed("list_named_ids")}`]:
    "list_named_ids() knows names or IDs of suppressed reports",
  [`${shareUei}, auditee_name = (select auditee_name from disclosed.general order by auditee_uei !~ '^[A-Z0-9]{12}$', auditee_uei limit 1); ${withSuppressed("list_named_ids")}`]:
    "list_named_ids() counts suppressed reports beside public ones",
  [`${shareUei}; ${withSuppressed("describe_auditee list_auditee_reports describe_results")}`]:
    "describe_auditee() names suppressed reports beside public ones",
  [`${shareUei}; ${withSuppressed("describe_report list_auditee_reports")}`]:
    "describe_report() names suppressed reports beside public ones",
  [`${shareUei}; ${withSuppressed("check_reports list_reports_of")}`]:
    "check_reports() counts suppressed reports beside public ones",
  [`${shareUei}; ${withSuppressed("search_reports list_matches describe_results")}; ${rewrite("write_search_conditions", "from disclosed.general as named", "from dissemination.general as named")}`]:
    "search_reports() names suppressed reports beside public ones",
  "update suppressed.findings_text set finding_text = 'floccinaucinihilipilification'; update disclosed.finding_summaries set plan_words = text_words, text_words = 'floccinaucinihilipilif'":
    "disclosed.finding_summaries has words of suppressed texts",
  "update suppressed.findings_text set finding_text = 'floccinaucinihilipilification'; create or replace function publication.count_findings_with(words text) returns integer language sql stable strict security definer set search_path = '' as $$ select count(*)::integer from dissemination.findings_text where extensions.text_words(finding_text) @@ plainto_tsquery('pg_catalog.english', words) $$":
    "count_findings_with() counts findings of suppressed reports",
  "update suppressed.federal_awards set federal_program_name = 'Hidden Program'; create or replace function publication.search_programs(written text) returns jsonb language sql stable strict security definer set search_path = '' as $$ select coalesce(jsonb_agg(to_jsonb(found)), '[]') from (select federal_agency_prefix || '.' || federal_award_extension as aln, federal_program_name, count(*) as awards from dissemination.federal_awards where federal_program_name = written group by 1, 2) as found $$":
    "search_programs(), suggest_programs() or name_programs() finds programs of suppressed reports",
  [`update suppressed.federal_awards set federal_program_name = 'Hidden Program', federal_agency_prefix = '99'; ${rewrite("suggest_programs", "publication.list_programs()", "(select federal_agency_prefix || ''.'' || federal_award_extension as aln, federal_program_name, 1::bigint as awards from suppressed.federal_awards)")}`]:
    "search_programs(), suggest_programs() or name_programs() finds programs of suppressed reports",
  [`update suppressed.federal_awards set federal_program_name = 'Hidden Program', federal_agency_prefix = '99'; ${rewrite("name_programs", "publication.list_programs()", "(select federal_agency_prefix || ''.'' || federal_award_extension as aln, federal_program_name, 1::bigint as awards from suppressed.federal_awards)")}`]:
    "search_programs(), suggest_programs() or name_programs() finds programs of suppressed reports",
  "create or replace function publication.list_related_programs(asked text) returns jsonb language sql stable strict security definer set search_path = '' as $$ select coalesce(jsonb_agg(jsonb_build_object('aln', asked || 'Z', 'findings', 0)), '[]') from suppressed.federal_awards $$":
    "list_related_programs() knows numbers of suppressed reports",
  "create or replace function publication.describe_programs(asked_year text, sort text, skipped integer, most integer) returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('programs', jsonb_build_array(jsonb_build_object('awards', count(*), 'findings', 0))) from dissemination.federal_awards $$":
    "describe_programs() counts other awards than the public ones",
  "create or replace function publication.describe_program_years(agency text, sort text, skipped integer, most integer) returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('years', '[]'::jsonb, 'programs', jsonb_build_array(jsonb_build_object('findings', count(*)))) from dissemination.findings $$":
    "describe_program_years() counts other findings than the public ones",
  "update suppressed.general set fac_accepted_date = '2099-01-01'; do $$ begin execute replace(pg_get_functiondef('publication.describe_totals()'::regprocedure), 'disclosed.general', 'dissemination.general'); end $$":
    "describe_totals() knows a newer report than the public ones",
  "create or replace function publication.describe_totals() returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('totals_by_state', jsonb_build_array(jsonb_build_object('submissions', count(*)))) from (select from disclosed.general union all select from suppressed.general) as rows $$":
    "Unlisted: function publication.describe_totals() runs as the deploying role",
  "create or replace function publication.describe_programs(asked_year text, sort text, skipped integer, most integer) returns jsonb language sql stable security definer set search_path = '' as $$ select jsonb_build_object('programs', jsonb_build_array(jsonb_build_object('awards', count(*)))) from (select from disclosed.federal_awards union all select from suppressed.federal_awards) as rows $$":
    "Unlisted: function publication.describe_programs(text,text,integer,integer) runs as the deploying role",
  "set local role publisher; create function disclosed.turn() returns boolean language sql immutable return true; create index turned on disclosed.general (report_id) where disclosed.turn(); reset role":
    "Unlisted: publisher owns function disclosed.turn()",
  "alter table disclosed.general force row level security":
    "Unlisted: forced row-level security on disclosed.general",
  "grant select on disclosed_previous.general to api_public, api_tribal":
    "Unlisted: api_public may select on table disclosed_previous.general",
  "grant select (report_id) on suppressed_previous.general to api_tribal":
    "Unlisted: api_tribal may select (report_id) on table suppressed_previous.general",
  "grant select (report_id) on disclosed_previous.findings to key_operator":
    "Unlisted: key_operator may select (report_id) on table disclosed_previous.findings",
  "grant select on disclosed_previous.totals_by_state to public":
    "Unlisted: PUBLIC may select on table disclosed_previous.totals_by_state",
  "grant select on suppressed.general to report_service":
    "Unlisted: report_service may select on table suppressed.general",
  "alter table suppressed.findings owner to api_owner": "Unlisted: api_owner owns table suppressed.findings",
  "alter table disclosed_previous.findings owner to api_owner":
    "Unlisted: api_owner owns table disclosed_previous.findings",
  "alter schema suppressed owner to postgres": "Unlisted: the deploying role owns schema suppressed",
  "create schema helper authorization publisher": "Unlisted: publisher owns schema helper",
  "grant pg_read_all_data to api_tribal": "Unlisted: api_tribal may become pg_read_all_data",
  "alter role report_service replication": "report_service has the attribute replication",
  "create materialized view disclosed.copy as select query_to_xml('table suppressed.general', true, false, '') as report_id; alter materialized view disclosed.copy owner to publisher":
    "Unlisted: view disclosed.copy: SELECT query_to_xml('table suppressed.general'::text, true, false, ''::text) AS report_id",
  "create materialized view disclosed.copy as select table_to_xml(to_regclass('suppressed.general'), true, false, '') as report_id; alter materialized view disclosed.copy owner to publisher":
    "Unlisted: view disclosed.copy: SELECT table_to_xml(to_regclass('suppressed.general'::text), true, false, ''::text) AS report_id",
  "create view dissemination.switch with (security_invoker = true) as select set_config('role', 'api_tribal', true) as role; alter view dissemination.switch owner to publisher":
    "Unlisted: view dissemination.switch (security_invoker=true): SELECT set_config('role'::text, 'api_tribal'::text, true) AS role",
  "create policy switch on disclosed.findings for select to api_public using (set_config('role', 'api_tribal', true) <> ''); alter table disclosed.findings enable row level security":
    "Unlisted: policy switch on disclosed.findings for select to api_public using ((set_config('role'::text, 'api_tribal'::text, true) <> ''::text))",
  "grant insert on dissemination.general to api_public":
    "Unlisted: api_public may insert on table dissemination.general",
  "grant update (auditee_name) on disclosed.general to api_tribal":
    "Unlisted: api_tribal may update (auditee_name) on table disclosed.general",
  "create trigger keep before update on disclosed.general for each row execute function suppress_redundant_updates_trigger()":
    "Unlisted: trigger keep on disclosed.general: BEFORE UPDATE ON disclosed.general FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
  "create rule copy as on insert to dissemination.findings do instead select 1":
    "Unlisted: rule copy on dissemination.findings",
  "alter table disclosed.general add column shouted text generated always as (upper(auditee_name)) stored":
    "Unlisted: column disclosed.general.shouted computes upper(auditee_name)",
  "create schema helper; create table helper.more () inherits (disclosed.findings)":
    "helper.more inherits from disclosed.findings",
  "create foreign data wrapper far; create server far foreign data wrapper far; create foreign table disclosed.far (report_id text) server far; grant select on disclosed.far to api_public":
    "Unlisted: api_public may select on table disclosed.far",
  "grant usage, select on sequence access.events_id_seq to api_public":
    "Unlisted: api_public may select on sequence access.events_id_seq",
  "grant select on pg_statistic to api_public":
    "Unlisted: api_public may select on table pg_catalog.pg_statistic",
  "grant select (stavalues1) on pg_statistic to public":
    "Unlisted: PUBLIC may select (stavalues1) on table pg_catalog.pg_statistic",
  "grant execute on function pg_read_file(text) to report_service":
    "Unlisted: report_service may execute on function pg_read_file(text)",
  "alter default privileges for role publisher grant select on tables to api_public":
    "Unlisted: objects that publisher creates: api_public may select on tables",
  "select lo_create(4711); grant select on large object 4711 to api_public":
    "Unlisted: api_public may select on large object 4711",
  "create materialized view disclosed.sizes as select relname, reltuples from pg_class; alter materialized view disclosed.sizes owner to publisher":
    "Unlisted: publisher owns materialized view disclosed.sizes",
  "create view dissemination.sizes with (security_invoker = true) as select relname, n_live_tup from pg_stat_user_tables; alter view dissemination.sizes owner to publisher; grant select on dissemination.sizes to api_public":
    "Unlisted: publisher owns view dissemination.sizes",
  "create view dissemination.past with (security_invoker = true) as table disclosed_previous.general; alter view dissemination.past owner to publisher; grant select on dissemination.past to api_public":
    "Unlisted: publisher owns view dissemination.past",
  "create view dissemination.past as table disclosed_previous.general; alter view dissemination.past owner to publisher; grant select on dissemination.past to api_public":
    "Unlisted: api_public may select on table dissemination.past",
  "create schema helper; create domain helper.role as text check (set_config('role', value, true) = value); alter table disclosed.general add column more helper.role":
    "disclosed.general.more has the type helper.role",
  "update disclosed.totals_by_state set amount_expended = amount_expended + (select sum(amount_expended) from suppressed.federal_awards)":
    "disclosed.totals_by_state should count all public rows of federal_awards and no others",
  "update disclosed.search_terms set report_id = (select min(report_id) from suppressed.general) where report_id = (select min(report_id) from disclosed.search_terms)":
    "disclosed.search_terms reveals data of suppressed submissions",
  "insert into disclosed.totals_by_program_and_state select audit_year, 'ZZ.999', auditee_state, count(*), 0, 0, 0 from suppressed.general group by audit_year, auditee_state":
    "disclosed.totals_by_program_and_state should count all public rows of federal_awards and no others",
  "insert into disclosed.totals_by_peers values ('2023', 'tribal', 0, 1000000, 0, 20, 0)":
    "disclosed.totals_by_peers should count all public reports of each of its groups and no others",
  "insert into disclosed.totals_by_peer_groups select audit_year, 'tribal', null, null, -1, count(*), 0 from suppressed.general group by audit_year":
    "disclosed.totals_by_peer_groups should count all public reports of each of its groups and no others",
  [`${recordChange}; insert into publication.changed_values select max(number), (select min(report_id) from suppressed.general), '{}' from publication.changes`]:
    "changed_values keeps values of reports that are not public now",
  "update disclosed.general_stubs set report_id = (select auditee_name from suppressed.general limit 1) where report_id = (select min(report_id) from disclosed.general_stubs)":
    "disclosed.general_stubs reveals data of suppressed submissions",
  "delete from deployment.api_schemas; grant api_tribal to api_public":
    "Unlisted: api_public may become api_tribal",
};
