import { describe, expect, it } from "vitest";
import {
  type DeploymentOptions,
  deployDatabase,
  rebuildApi,
  repositoryDirectory,
} from "../../../scripts/deploy/deploy-database.ts";
import { readFiles } from "../../../scripts/deploy/read-files.ts";
import { runTransaction } from "../../../scripts/sql/run-transaction.ts";
import { connect } from "../../../shared/connect.ts";
import { publishSample, useOwnServer, withLogin } from "./support.ts";

// A careless or hostile file of an API version does no harm: it runs with the rights of api_owner, whoever deploys.

const api = "api_v1_1_0";
const definer = "security definer set search_path = ''";

const view = (columns: string, more = "") =>
  `create view ${api}.more as select ${columns} from dissemination.general ${more}`;
const become = (body: string, parameters = "") =>
  `create function ${api}.become(${parameters}) returns text ${body}; comment on function ${api}.become is 'Become.'`;
/** Functions whose body PostgreSQL stores as text, and parses only when they run. */
const unparsed = (...statements: string[]) =>
  statements.map((statement) =>
    become(`language plpgsql volatile as $f$ begin ${statement}; return 1; end $f$`),
  );
const parsed = (...statements: string[]) =>
  statements.map((statement) => become(`language sql volatile begin atomic ${statement}; end`));

/** Files that PostgreSQL or the later catalog checks refuse, by a pattern that matches the error. */
const refused: Record<string, string[]> = {
  "permission denied for schema suppressed": [
    `create function ${api}.all_suppressed() returns setof suppressed.general language sql stable ${definer} as 'table suppressed.general'`,
    "grant select on suppressed.general to api_public",
    "drop policy tribal_access on suppressed.general",
    "create policy everybody on suppressed.general using (true)",
  ],
  "permission denied for": [
    `create materialized view ${api}.copy as table dissemination.general`,
    `create table ${api}.copy as table dissemination.general`,
    `create view ${api}.more as select general.report_id from disclosed.general`,
    "create view publication.more as select 1 as one",
    "create schema more",
    "create or replace function request.decide() returns void language sql as ''",
    "alter function deployment.run_as_api_owner(text) security invoker",
  ],
  "permission denied for schema access": [
    `create view ${api}.keys as select key_sha256 from access.api_keys`,
    "update access.tiers set requests_at_a_time = 1",
    "select setval('access.events_id_seq', 1)",
  ],
  "permission denied": [
    "alter role api_public bypassrls",
    "grant api_tribal to api_public",
    "copy (select 1) to program 'true'",
    `create function ${api}.t() returns event_trigger language plpgsql as 'begin end'; create event trigger t on ddl_command_end execute function ${api}.t()`,
    // This trigger runs at the end of the transaction.
    `create table ${api}.late (id integer primary key deferrable initially deferred);
     create function ${api}.late() returns trigger language plpgsql as $f$ begin execute 'grant api_tribal to api_public'; return null; end $f$;
     create constraint trigger late after insert on ${api}.late deferrable initially deferred for each row execute function ${api}.late();
     insert into ${api}.late values (1)`,
  ],
  'cannot set parameter "(role|session_authorization)"': [
    "reset role",
    "set session authorization publisher",
    `create function ${api}.become() returns integer language sql stable set role = 'api_tribal' return 1`,
  ],
  "EXECUTE of transaction commands is not implemented": ["commit"],
  run_as_api_owner: ["drop owned by api_owner"],
  "Unlisted: api_owner owns (table|sequence) api_v1_1_0\\.": [
    `create table ${api}.notes (text text)`,
    `create sequence ${api}.numbers`,
  ],
  "Unlisted: (PUBLIC|report_service|api_tribal) may ": [
    `grant select on ${api}.general to public`,
    `create function ${api}.one() returns integer language sql return 1; comment on function ${api}.one is 'One.'; grant execute on function ${api}.one to public`,
    `grant insert on ${api}.general to api_tribal`,
    `grant select on ${api}.general to report_service`,
    `grant select on ${api}.general to api_tribal with grant option`,
    `grant usage on schema ${api} to report_service`,
  ],
  "Unlisted: objects that api_owner creates: api_public may select on tables": [
    "alter default privileges grant select on tables to api_public",
  ],
  "more: This object has no comment": [view("general.report_id")],
  "more.report_id: The comment of this column needs a label": [view("general.report_id")],
  "one\\(\\): This object has no": [`create function ${api}.one() returns integer language sql return 1`],
  "again\\(.*must limit how many bytes": [
    `create function ${api}.again(${api}.general) returns setof ${api}.general language sql stable begin atomic select general.* from ${api}.general; end; comment on function ${api}.again is 'Again.'`,
  ],
  "more: An API view may only select plain columns": [
    view("general.report_id", "order by 1"),
    view("general.report_id", "where audit_year > '2020'"),
    view("general.report_id", "join dissemination.findings using (report_id)"),
    view("upper(general.report_id) as id"),
  ],
  "become.*: API functions must be SQL functions whose body is parsed": [
    ...unparsed(
      "set/**/local/**/role api_tribal",
      "execute 'select 1'",
      "do E'begin set\\040local role api_tribal; end'",
      `perform U&"set\\005fconfig"('role', 'api_tribal', true)`,
      "perform set_config('response.headers', '', true), set_config/**/('role', 'api_tribal', true)",
    ),
    become("language sql as $f$ select query_to_xml_and_xmlschema('select 1', true, true, '') $f$"),
    become("language sql as $f$ select word from ts_stat('select 1') $f$"),
    `create procedure ${api}.become() language sql begin atomic select 1; end; comment on procedure ${api}.become is 'Become.'`,
    `create aggregate ${api}.become(integer) (sfunc = int4larger, stype = integer); comment on aggregate ${api}.become(integer) is 'Become.'`,
  ],
  // Each could read a table that its caller may read, or count its rows, without naming it where a rule sees it.
  "become.*: This function calls .* which (takes the name or ID of an object|is not in the list)": parsed(
    "select table_to_xml(to_regclass('disclosed_previous.general'), true, false, '')::text",
    "select schema_to_xml('suppressed', true, false, '')::text",
    "select database_to_xml(true, false, '')::text",
    "select pg_stat_get_live_tuples(to_regclass('suppressed.findings'))::text",
    "select pg_stat_get_tuples_inserted('suppressed.findings'::text::regclass)::text",
    "select pg_relation_filepath(to_regclass('suppressed.findings'))",
    "select has_table_privilege('api_public', 'suppressed.findings', 'select')::text",
    "select row_security_active('suppressed.findings')::text",
    "select obj_description(to_regclass('suppressed.findings'), 'pg_class')",
    "select pg_get_viewdef(to_regclass('api_v1_1_0.general'))",
    "select current_setting('request.headers')",
    "select current_schemas(true)::text",
  ),
  "broken_rules.sql. If no text that it takes names an object.*add its name to that list: 'version'":
    parsed("select version()"),
  "become.*: This function calls shout\\(text\\), which is not PostgreSQL's own": parsed(
    "select pg_catalog.shout('a')",
  ),
  "Unlisted: type dissemination.role is a domain": [
    ...parsed("select 'api_tribal'::text::dissemination.role"),
    become("language sql return 'a'", "role dissemination.role"),
    `create type ${api}.roles as (role dissemination.role)`,
  ],
  "become.*: This function calls .* which (is volatile|is in another schema)": [
    ...parsed(
      `select U&"set\\005fconfig"('role', 'api_tribal', true)`,
      "select query_to_xml_and_xmlschema('select 1', true, true, '')",
      "select word from ts_stat('select 1')",
      "select '' from pg_catalog.lo_create(0) as made",
      "with hidden as materialized (select set_config('role', 'api_tribal', true) as role) select role from hidden",
      "select information_schema._pg_interval_type(1082, 0)",
    ),
    become("language sql return role", "role text default set_config('role', 'api_tribal', true)"),
  ],
  "become.*: This function reads pg_settings": parsed(
    "select setting from pg_settings limit 1",
    "update pg_settings set setting = 'api_tribal' where name = 'role'; select ''",
  ),
  "become.*: This function sets row_security=off": [become("language sql set row_security = off return 1")],
  "Unlisted: (type|cast|rule|column|trigger) |steps\\(integer,integer\\)": [
    `create domain ${api}.role as text check (set_config('role', value, true) = value)`,
    `create type ${api}.steps as range (subtype = integer)`,
    `create type ${api}.role as enum (); create cast (${api}.role as text) with inout as implicit`,
    `create rule role as on insert to ${api}.general do instead select set_config('role', 'api_tribal', true)`,
    `alter view ${api}.general alter column auditee_name set default set_config('role', 'api_tribal', true)`,
    `create trigger role instead of insert on ${api}.general for each row execute function suppress_redundant_updates_trigger()`,
  ],
  "Unlisted: api_owner owns (operator|large object)": [
    `create operator ${api}.# (function = pg_catalog.text_larger, leftarg = text, rightarg = text)`,
    "select lo_create(0)",
  ],
};
const cases = Object.entries(refused).flatMap(([answer, files]) =>
  files.map((sql) => [sql, answer] as const),
);

const commented = (kind: string, name: string) =>
  `comment on ${kind} ${api}.${name} is 'Test.';
   grant ${kind === "view" ? "select on" : `execute on ${kind}`} ${api}.${name} to api_public, api_tribal;`;
const namesView = (options: string) =>
  `create view ${api}.names ${options} as select general.report_id, general.auditee_name from dissemination.general;
   comment on column ${api}.names.report_id is E'ID\\nAn ID.'; comment on column ${api}.names.auditee_name is E'Name\\nA name.';
   ${commented("view", "names")}`;

/** Files that are accepted, each with a query for readers to run. */
const harmless: Record<string, [sql: string, question: string]> = {
  "a view with the owner's rights": [namesView(""), `select count(auditee_name) from ${api}.names`],
  "a view with the caller's rights": [
    namesView("with (security_invoker = true)"),
    `select count(auditee_name) from ${api}.names`,
  ],
  "a function with the caller's rights": [
    `create function ${api}.names(state text default null) returns setof ${api}.general language sql stable begin atomic select general.* from ${api}.general where state is null or auditee_state = state; end; ${commented("function", "names(text)")}`,
    `select count(auditee_name) from ${api}.names()`,
  ],
  "a function that calls listed functions": [
    `create function ${api}.names() returns setof text language sql stable begin atomic
       select concat_ws(', ', auditee_name, auditee_city) || format(' %s ', to_char(now(), 'YYYY')) || jsonb_build_object('n', audit_year)
       from ${api}.general
       where auditee_name is not null and auditee_name ilike '%' and fac_accepted_date <= now() and (audit_year, report_id) > ('', '')
         and to_tsvector('english', auditee_name) @@ websearch_to_tsquery('english', '-nosuchword')
       order by auditee_name desc, report_id using <; end;
     ${commented("function", "names()")}`,
    `select count(*) from ${api}.names()`,
  ],
  "a computed column": [
    `create function ${api}.shout(${api}.general) returns text language sql stable return upper($1.auditee_name); ${commented("function", `shout(${api}.general)`)}`,
    `select count(${api}.shout(general)) from ${api}.general`,
  ],
};

const own = useOwnServer(async ({ url, client }) => {
  await client.query("create role owner login password 'secret' createrole");
  await client.query(`alter database ${client.database} owner to owner`);
  await deployDatabase(withLogin(url, "owner"));
  await publishSample(client);
});

/** What a careless superuser and a careless publisher prepared for a file that names it. The leak check reports it, too. */
const prepared = {
  "shout('a')":
    "create function pg_catalog.shout(text) returns text language sql immutable as $$ select upper($1) $$",
  "dissemination.role":
    "create domain dissemination.role as text check (set_config('role', value, true) = value)",
};

/** Rebuilds the API with one more file as the role `as`, then calls `ask`. Everything is rolled back. */
async function attempt<Answer>(
  as: string,
  sql: string,
  ask: () => Promise<Answer>,
  options: DeploymentOptions = {},
) {
  const files = await readFiles(repositoryDirectory);
  const version = files.api.versions.find(({ schema }) => schema === api);
  version?.files.push({ name: `db/api/${api}/zz.sql`, sql: `${sql.replace(/;?\s*$/, "")};\n` });
  let answer: Answer | undefined;
  const work = async () => {
    for (const [name, create] of Object.entries(prepared))
      if (sql.includes(name)) await own.client.query(create);
    await own.client.query(`set local session authorization ${as}`);
    await rebuildApi(own.client, files, options);
    await own.client.query("reset session authorization");
    answer = await ask();
    throw new Error("undone");
  };
  await runTransaction(own.client, work).catch((error: Error) => {
    if (error.message !== "undone") throw error;
  });
  return answer;
}

async function ask(role: string, question: string): Promise<number> {
  await own.client.query(`set local role ${role}`);
  const { rows } = await own.client.query<{ count: string }>(question);
  await own.client.query("reset role");
  return Number(rows[0]?.count);
}

/** As if the list of rights had what the file grants. */
const reviewed = { takesRights: true };

describe("a file of an API version", () => {
  const isRefused = (as: string, sql: string, answer: string) =>
    expect(attempt(as, sql, async () => {})).rejects.toThrow(new RegExp(answer));
  it.each(cases)("is refused: %s", (sql, answer) => isRefused("owner", sql, answer));

  it("is refused the same way if a superuser deploys it", async () => {
    for (const [sql, answer] of cases)
      if (/permission|parameter|EXECUTE of/.test(answer)) await isRefused("postgres", sql, answer);
  });

  it.each(Object.entries(harmless))(
    "lets each reader see what its role may see, through %s",
    async (_name, [sql, question]) => {
      const open = await ask("postgres", "select count(auditee_name) from disclosed.general");
      const hidden = await ask("postgres", "select count(auditee_name) from suppressed.general");
      const asReaders = async () => [await ask("api_public", question), await ask("api_tribal", question)];
      expect(await attempt("owner", sql, asReaders, reviewed)).toEqual([open, open + hidden]);
      expect(hidden).toBeGreaterThan(0);
    },
  );

  it("may create a security definer function, but no reader can use it", async () => {
    const sql = `create function ${api}.names() returns setof text language sql stable ${definer} begin atomic select auditee_name from ${api}.general; end; ${commented("function", "names()")}`;
    const use = () => ask("api_public", `select count(*) from ${api}.names()`);
    await expect(attempt("owner", sql, use, reviewed)).rejects.toThrow("permission denied");
  });

  it("cannot let another deployment start by releasing the session's locks", async () => {
    const other = await connect(own.url, "test");
    const tryLock = () => other.query("select pg_try_advisory_lock(hashtext('db-deploy')) as free");
    const answer = await attempt("owner", "select pg_advisory_unlock_all()", tryLock);
    await other.end();
    expect(answer?.rows).toEqual([{ free: false }]);
  });
});
