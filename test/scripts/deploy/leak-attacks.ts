export const api = "api_v1_1_0";
export const grant = (what: string) => `grant ${what} to api_public;`;
export const definer = "security definer set search_path = ''";
export const definerFunction = `create function ${api}.all_suppressed() returns setof suppressed.general
  language sql stable ${definer} as $$ table suppressed.general $$;
  ${grant(`execute on function ${api}.all_suppressed()`)}`;
const becomeTribal = "perform set_config('role', 'api_tribal', true);";

export const attacks: [name: string, attack: string, finding: RegExp][] = [
  [
    "a security definer function",
    definerFunction,
    /all_suppressed\(\) is security definer in a served schema/,
  ],
  [
    "a security definer computed column",
    `create function ${api}.name(${api}.general) returns text language sql stable ${definer}
     as $$ select auditee_name from suppressed.general where report_id = $1.report_id $$;
     ${grant(`execute on function ${api}.name(${api}.general)`)}`,
    /api_v1_1_0\.name\(api_v1_1_0\.general\) is security definer/,
  ],
  [
    "a view that reads with its owner's rights",
    `create view ${api}.bare as table suppressed.general; ${grant(`select on ${api}.bare`)}`,
    /api_v1_1_0\.bare: as api_public it reads suppressed\.general, it shows a suppressed submission/,
  ],
  [
    "such a view in a version of its own",
    `create schema api_v9; create view api_v9.bare as table suppressed.findings;
     ${grant("usage on schema api_v9")} ${grant("select on api_v9.bare")}`,
    /api_v9\.bare: as api_public it reads suppressed\.findings/,
  ],
  [
    "such a view of some columns, without the report's ID",
    `create view ${api}.names as select auditee_name from suppressed.general; ${grant(`select on ${api}.names`)}`,
    /api_v1_1_0\.names: as api_public it reads suppressed\.general/,
  ],
  [
    "a view of the data set that reads with its owner's rights",
    "alter view dissemination.findings reset (security_invoker)",
    /api_v1_1_0\.findings: as api_public it reads suppressed\.findings, it shows a suppressed submission/,
  ],
  ["bypassrls", "alter role api_public bypassrls", /api_public is superuser or has bypassrls/],
  ["membership in api_tribal", grant("api_tribal"), /api_public may become api_tribal/],
  [
    "a policy for everyone",
    "create policy all_of_it on suppressed.passthrough for select to api_public using (true)",
    /dissemination\.passthrough: as api_public it reads suppressed\.passthrough/,
  ],
  [
    "row-level security that is off",
    "alter table suppressed.general disable row level security",
    /api_v1_1_0\.general: as api_public it reads suppressed\.general/,
  ],
  [
    "a tier that becomes api_tribal",
    `alter table access.tiers drop constraint tiers_only_tribal_sees_suppressed;
     update access.tiers set database_role = 'api_tribal' where name = 'individual'`,
    /The tier individual becomes api_tribal/,
  ],
  [
    "a tier with a role of its own that may see everything",
    `create role api_agency bypassrls; grant api_agency to publisher with inherit false, set true;
     grant usage on schema ${api}, dissemination, disclosed, suppressed to api_agency;
     grant select on all tables in schema ${api}, dissemination, disclosed, suppressed to api_agency;
     alter table access.tiers drop constraint tiers_database_role_is_served;
     update access.tiers set database_role = 'api_agency' where name = 'individual'`,
    /api_v1_1_0\.general: as api_agency it reads suppressed\.general/,
  ],
  [
    "a materialized copy",
    `create materialized view ${api}.copy as table suppressed.general; ${grant(`select on ${api}.copy`)}`,
    /api_v1_1_0\.copy: as api_public it reads api_v1_1_0\.copy, which is no table of disclosed/,
  ],
  [
    "a copy in a schema of its own, behind a view",
    `create schema helper; create table helper.copy as table suppressed.findings;
     create view ${api}.hidden as table helper.copy; ${grant(`select on ${api}.hidden`)}`,
    /api_v1_1_0\.hidden: as api_public it reads helper\.copy/,
  ],
  [
    "a suppressed table that inherits from a public one",
    "alter table suppressed.additional_eins inherit disclosed.additional_eins",
    /api_v1_1_0\.additional_eins: as api_public it reads suppressed\.additional_eins/,
  ],
  [
    "an invoker's function that becomes another role",
    `create function ${api}.turn() returns setof ${api}.general language plpgsql volatile set search_path = ''
     as $$ begin ${becomeTribal} return query table ${api}.general; end $$;
     ${grant(`execute on function ${api}.turn()`)}`,
    /api_v1_1_0\.turn\(\): as api_public it calls api_v1_1_0\.turn\(\), and no plan shows what that reads/,
  ],
  [
    "a view that becomes another role and runs a query of its own",
    `create view ${api}.turned with (security_invoker = true) as
     select set_config('role', 'api_tribal', true) as role, query_to_xml('table suppressed.general', true, true, '') as rows;
     ${grant(`select on ${api}.turned`)}`,
    /api_v1_1_0\.turned: as api_public it calls query_to_xml\(\), which may do anything/,
  ],
  [
    "a view that calls a security definer function of another schema",
    `create schema helper;
     create function helper.read(text) returns text language sql stable ${definer}
     as $$ select auditee_name from suppressed.general where report_id = $1 $$;
     ${grant("execute on function helper.read(text)")}
     create view ${api}.called with (security_invoker = true) as
     select general.report_id, helper.read(general.report_id) as name from dissemination.general;
     ${grant(`select on ${api}.called`)}`,
    /api_v1_1_0\.called: as api_public it calls helper\.read\(text\), and no plan shows/,
  ],
  [
    "a procedure",
    `create procedure ${api}.act() language plpgsql as $$ begin ${becomeTribal} end $$;
     ${grant(`execute on procedure ${api}.act()`)}`,
    /api_v1_1_0\.act\(\): api_public may run it, and no plan shows what it reads/,
  ],
  [
    "a suppressed submission's rows among the public ones",
    `alter table disclosed.federal_awards drop constraint federal_awards_report_id_is_in_general;
     insert into disclosed.federal_awards select * from suppressed.federal_awards limit 1`,
    /disclosed\.federal_awards: its report_id names suppressed submissions/,
  ],
  [
    "a public row that names a suppressed submission",
    `update disclosed.resubmission set previous_report_id = (select report_id from suppressed.general limit 1)
     where report_id = (select report_id from disclosed.resubmission limit 1)`,
    /disclosed\.resubmission: its previous_report_id names suppressed submissions/,
  ],
  [
    "a stub that tells more than that it is there",
    `alter table disclosed.general_stubs drop constraint general_stubs_tell_nothing;
     update disclosed.general_stubs set auditee_state = 'AZ'`,
    /disclosed\.general_stubs: its report_id names suppressed submissions/,
  ],
  [
    "a status that tells of a suppressed successor",
    `insert into disclosed.resubmission (report_id, auditee_uei, status)
     select previous_report_id, auditee_uei, 'deprecated_via_resubmission' from suppressed.resubmission
     where previous_report_id is not null limit 1`,
    /disclosed\.resubmission: its status tells that a suppressed submission came next/,
  ],
  [
    "a version that tells of a suppressed predecessor",
    `update disclosed.general set resubmission_version = 2
     where report_id in (select next_report_id from suppressed.resubmission)
       and report_id not in (select report_id from disclosed.resubmission)`,
    /disclosed\.general: its resubmission_version tells that a suppressed submission came before/,
  ],
  [
    "a default argument that becomes another role",
    `create function ${api}.turned(role text default set_config('role', 'api_tribal', true)) returns setof ${api}.general
     language sql stable as $$ select general.* from ${api}.general $$;
     ${grant(`execute on function ${api}.turned(text)`)}`,
    /api_v1_1_0\.turned\(text\): as api_public it calls set_config\(\), which may do anything/,
  ],
  [
    "a domain whose check becomes another role",
    `create domain ${api}.word as text check (set_config('role', 'api_tribal', true) <> value)`,
    /the domain api_v1_1_0\.word: as api_public it calls set_config\(\), which may do anything/,
  ],
  [
    "a function of PostgreSQL that runs a query of its own",
    `create function ${api}.dump(${api}.general) returns xml language sql stable
     as $$ select table_to_xml('suppressed.general', true, true, '') $$;
     ${grant(`execute on function ${api}.dump(${api}.general)`)}`,
    /as api_public it calls table_to_xml\(\), which may do anything/,
  ],
  [
    "a function whose value the planner puts in its place",
    `create function ${api}.names() returns text language plpgsql immutable set search_path = ''
     as $$ begin ${becomeTribal} return (select string_agg(auditee_name, ',') from suppressed.general); end $$;
     ${grant(`execute on function ${api}.names()`)}`,
    /api_v1_1_0\.names\(\): api_public may run it, and no plan shows what it reads/,
  ],
  [
    "a function that is made part of an extension",
    `create function ${api}.turn() returns text language plpgsql as $$ begin ${becomeTribal} return ''; end $$;
     alter extension plpgsql add function ${api}.turn(); ${grant(`execute on function ${api}.turn()`)}`,
    /api_v1_1_0\.turn\(\): (as )?api_public (it calls|may run)/,
  ],
  [
    "a listed function that is not what it was when it was listed",
    `create or replace function request.matches_etag(condition text, etag text, if_absent boolean) returns boolean
     language plpgsql as $$ begin ${becomeTribal} return true; end $$`,
    /as api_public it calls request\.matches_etag\(text,text,boolean\), and no plan shows/,
  ],
  [
    "a request that becomes another role than its key's",
    `do $do$ begin execute replace(
       pg_get_functiondef('request.decide()'::regprocedure), '''role'', key.database_role', '''role'', ''api_tribal'''
     ); end $do$`,
    /request\.authorize\(\): a key of the tier individual becomes api_tribal in place of api_public/,
  ],
  [
    "a materialized copy among the public tables",
    `create materialized view disclosed.copy as table suppressed.general;
     alter materialized view disclosed.copy owner to publisher; ${grant("select on disclosed.copy")}`,
    /disclosed\.copy: its report_id names suppressed submissions/,
  ],
  [
    "a public table that does not say whose rows it has",
    `create table disclosed.names as select auditee_name from suppressed.general;
     alter table disclosed.names owner to publisher; ${grant("select on disclosed.names")}`,
    /disclosed\.names: it has no report_id/,
  ],
  [
    "names of suppressed auditees beside what data set it is",
    `alter table disclosed.data_set add column names text[];
     update disclosed.data_set set names = array(select auditee_name from suppressed.general)`,
    /disclosed\.data_set: it has no report_id/,
  ],
  [
    "names of suppressed auditees in what says what data set it is",
    `drop table disclosed.data_set cascade;
     create table disclosed.data_set as
     select string_agg(auditee_name, ', ') as id, now() as built_at, null::timestamptz as published_at from suppressed.general`,
    /disclosed\.data_set: it has no report_id/,
  ],
  [
    "names of suppressed auditees, as rows of what says what data set it is",
    `insert into disclosed.data_set
     select md5(auditee_name)::uuid, now(), now() from suppressed.general where auditee_name is not null`,
    /disclosed\.data_set: it should have one row, and has/,
  ],
  [
    "names of suppressed auditees in a materialized view in place of what says what data set it is",
    `drop table disclosed.data_set cascade;
     create materialized view disclosed.data_set as
     select md5(auditee_name)::uuid as id, now() as built_at, null::timestamptz as published_at from suppressed.general`,
    /disclosed\.data_set: its definition reads or calls more than tables of disclosed/,
  ],
  [
    "names of suppressed auditees in a partitioned table in place of what says what data set it is",
    `drop table disclosed.data_set cascade;
     create table disclosed.data_set (id uuid, built_at timestamptz, published_at timestamptz) partition by hash (id)`,
    /disclosed\.data_set: it has no report_id/,
  ],
  [
    "totals that count suppressed submissions",
    `create materialized view disclosed.counts as
     select audit_year, count(*) as submissions from (table disclosed.general union all table suppressed.general) as rows group by 1;
     alter materialized view disclosed.counts owner to publisher; ${grant("select on disclosed.counts")}`,
    /disclosed\.counts: its definition reads or calls more than tables of disclosed/,
  ],
  [
    "totals that keep a submission which has been taken away",
    `alter table disclosed.federal_awards drop constraint federal_awards_report_id_is_in_general;
     delete from disclosed.federal_awards`,
    /disclosed\.totals_by_state: its rows are not those of its definition/,
  ],
  [
    "totals that a deployment would run as another role",
    `create materialized view disclosed.counts as
     select audit_year, pg_catalog."set_config"('role', 'api_tribal', true) as role from disclosed.general with no data;
     alter materialized view disclosed.counts owner to publisher; ${grant("select on disclosed.counts")}`,
    /disclosed\.counts: its definition reads or calls more than tables of disclosed/,
  ],
  [
    "totals of what PostgreSQL itself counts",
    `create materialized view disclosed.counts as
     select relname::text, reltuples from pg_catalog.pg_class where relname = 'federal_awards';
     alter materialized view disclosed.counts owner to publisher; ${grant("select on disclosed.counts")}`,
    /disclosed\.counts: its definition reads or calls more than tables of disclosed/,
  ],
  [
    "totals of suppressed submissions beside a report ID that is nobody's",
    `create materialized view disclosed.counts as select '' as report_id, count(*) as submissions from suppressed.general;
     alter materialized view disclosed.counts owner to publisher; ${grant("select on disclosed.counts")}`,
    /disclosed\.counts: its definition reads or calls more than tables of disclosed/,
  ],
  [
    "an index by which a deployment would run a function of the publisher's",
    `set local role publisher;
     create function disclosed.turn() returns boolean language plpgsql immutable
     as $$ begin if current_user <> 'publisher' then raise 'run as %', current_user; end if; return true; end $$;
     create index turned on disclosed.general (report_id) where disclosed.turn(); reset role`,
    /disclosed\.turn\(\): who deploys would run it/,
  ],
  [
    "a policy by which a deployment would run what the publisher says",
    "alter table disclosed.general force row level security",
    /disclosed\.general: its row-level security is forced on its owner/,
  ],
];
