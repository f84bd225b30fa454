import type { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { connect } from "../../../service/connect.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { type Copy, copyRepository, readAll, withLogin } from "./support.ts";

// What a careless or hostile file of an API version can do: nothing. Files run with the rights of api_owner, whoever deploys.

const api = "api_v1_1_0";
const definer = "security definer set search_path = ''";

/** Files that PostgreSQL refuses, or the catalog checks after them, with the answer. */
const refused: [name: string, sql: string, answer: RegExp][] = [
  [
    "reads suppressed in a definer function",
    `create function ${api}.all_suppressed() returns setof suppressed.general language sql stable ${definer} as 'table suppressed.general'`,
    /permission denied for schema suppressed/,
  ],
  [
    "grants suppressed",
    "grant select on suppressed.general to api_public",
    /permission denied for schema suppressed/,
  ],
  [
    "drops a policy of suppressed",
    "drop policy tribal_access on suppressed.general",
    /permission denied for schema suppressed/,
  ],
  [
    "makes a policy on suppressed",
    "create policy everybody on suppressed.general using (true)",
    /permission denied for schema suppressed/,
  ],
  [
    "makes a materialized view",
    `create materialized view ${api}.copy as table dissemination.general`,
    /permission denied for/,
  ],
  ["copies a table", `create table ${api}.copy as table dissemination.general`, /permission denied for/],
  [
    "makes a table",
    `create table ${api}.notes (text text)`,
    /notes: API schemas hold views, functions and types/,
  ],
  ["makes a sequence", `create sequence ${api}.numbers`, /numbers: API schemas hold views/],
  ["changes a role", "alter role api_public bypassrls", /permission denied/],
  ["grants a role", "grant api_tribal to api_public", /permission denied to grant role/],
  [
    "makes an event trigger",
    `create function ${api}.t() returns event_trigger language plpgsql as 'begin end'; create event trigger t on ddl_command_end execute function ${api}.t()`,
    /permission denied to create event trigger/,
  ],
  ["runs a program", "copy (select 1) to program 'true'", /permission denied to COPY/],
  ["resets the role", "reset role", /cannot set parameter "role" within security-definer function/],
  [
    "becomes another user",
    "set session authorization publisher",
    /cannot set parameter "session_authorization"/,
  ],
  ["ends the transaction", "commit", /EXECUTE of transaction commands is not implemented/],
  ["makes another schema", "create schema more", /permission denied for database/],
  [
    "makes something in another schema",
    "create view publication.more as select 1 as one",
    /permission denied for schema publication/,
  ],
  [
    "reads keys",
    `create view ${api}.keys as select key_sha256 from access.api_keys`,
    /permission denied for schema access/,
  ],
  ["writes rows", "update access.tiers set requests_at_a_time = 1", /permission denied for schema access/],
  ["sets a sequence", "select setval('access.events_id_seq', 1)", /permission denied for schema access/],
  [
    "turns the runner on its caller",
    "alter function deployment.run_as_api_owner(text) security invoker",
    /permission denied for schema deployment/,
  ],
  ["drops the runner", "drop owned by api_owner", /run_as_api_owner/],
  [
    "changes the platform's functions",
    "create or replace function request.decide() returns void language sql as ''",
    /permission denied for schema request/,
  ],
  [
    "waits for the end of the transaction",
    `create table ${api}.late (id integer primary key deferrable initially deferred);
     create function ${api}.late() returns trigger language plpgsql as $f$ begin execute 'grant api_tribal to api_public'; return null; end $f$;
     create constraint trigger late after insert on ${api}.late deferrable initially deferred for each row execute function ${api}.late();
     insert into ${api}.late values (1)`,
    /permission denied to grant role/,
  ],
  ["grants to everybody", `grant select on ${api}.general to public`, /general: SELECT is granted to PUBLIC/],
  [
    "lets everybody run a function",
    `create function ${api}.one() returns integer language sql return 1; comment on function ${api}.one is 'One.'; grant execute on function ${api}.one to public`,
    /one\(\): EXECUTE is granted to PUBLIC/,
  ],
  [
    "grants writes",
    `grant insert on ${api}.general to api_tribal`,
    /general: INSERT is granted to api_tribal/,
  ],
  [
    "grants to another role",
    `grant select on ${api}.general to report_service`,
    /general: SELECT is granted to report_service/,
  ],
  [
    "grants what is made later",
    "alter default privileges grant select on tables to api_public",
    /default privileges of api_owner/,
  ],
  ["leaves a setting behind", "set search_path = public", /search_path is left changed for what comes after/],
  [
    "forgets a comment",
    `create view ${api}.more as select general.report_id from dissemination.general`,
    /more: The view needs a comment/,
  ],
  [
    "sorts",
    `create view ${api}.more as select general.report_id from dissemination.general order by 1`,
    /API views are plain selects\. This one sorts/,
  ],
  [
    "embeds a list that is not weighed",
    `create function ${api}.again(${api}.general) returns setof ${api}.general language sql stable as 'select general.* from ${api}.general'; comment on function ${api}.again is 'Again.'`,
    /again\(.*must be weighed/,
  ],
];

const commented = (kind: string, name: string, columns = "") =>
  `comment on ${kind} ${api}.${name} is 'Test.'; ${columns}
   grant ${kind === "view" ? "select on" : `execute on ${kind}`} ${api}.${name} to api_public, api_tribal;`;
const namesView = (options: string) =>
  `create view ${api}.names ${options} as select general.report_id, general.auditee_name from dissemination.general;
   comment on column ${api}.names.report_id is 'ID.'; comment on column ${api}.names.auditee_name is 'Name.';
   ${commented("view", "names")}`;

/** Files that run, and what a reader then asks: it sees what its own rights show, or nothing. */
const harmless: [name: string, sql: string, question: string][] = [
  ["a view with the owner's rights", namesView(""), `select count(auditee_name) from ${api}.names`],
  [
    "a view with the caller's rights",
    namesView("with (security_invoker = true)"),
    `select count(auditee_name) from ${api}.names`,
  ],
  [
    "a function with the caller's rights",
    `create function ${api}.names(state text default null) returns setof ${api}.general language sql stable as $f$ select general.* from ${api}.general where state is null or auditee_state = state $f$; ${commented("function", "names(text)")}`,
    `select count(auditee_name) from ${api}.names()`,
  ],
  [
    "a computed column",
    `create function ${api}.shout(${api}.general) returns text language sql stable as $f$ select upper($1.auditee_name) $f$; ${commented("function", `shout(${api}.general)`)}`,
    `select count(${api}.shout(general)) from ${api}.general`,
  ],
];

const harmlessRefused: typeof harmless = [
  [
    "a definer function over dissemination",
    `create function ${api}.names() returns setof text language sql stable ${definer} as 'select auditee_name from dissemination.general'; ${commented("function", "names()")}`,
    `select count(*) from ${api}.names()`,
  ],
];

let server: ScratchServer;
let url: string;
let superuser: Client;
let copy: Copy;
let served: string[];
beforeAll(async () => {
  server = await startScratchServer();
  url = await server.create();
  superuser = await connect(url, "test");
  const database = new URL(url).pathname.slice(1);
  await superuser.query("create role owner login password 'secret' createrole");
  await superuser.query(`alter database ${database} owner to owner`);
  await deployDatabase(withLogin(url, "owner", "secret"));
  const sample = await makeSmallSample(200);
  await superuser.query("set role publisher");
  await loadDataSet(superuser, { source: "test", files: await findFiles(sample.directory) });
  await superuser.query("reset role");
  await sample.remove();
});
afterAll(async () => {
  await superuser?.end();
  await server?.close();
});
beforeEach(async () => {
  copy = await copyRepository();
});
afterEach(() => copy.dispose());

const deploy = async (sql: string, as: string) => {
  await copy.write(`api/${api}/zz.sql`, `${sql.replace(/;?\s*$/, "")};\n`);
  await deployDatabase(as, {}, { directory: copy.directory });
};

async function ask(role: string, question: string): Promise<number> {
  await superuser.query(`begin; set local role ${role}`);
  try {
    return Number((await superuser.query<{ count: string }>(question)).rows[0]?.count);
  } finally {
    await superuser.query("rollback");
  }
}

const byRights = refused.filter(([, , answer]) => /permission|parameter|EXECUTE of/.test(answer.source));

describe.each([
  ["an owner without superuser", refused, () => withLogin(url, "owner", "secret")],
  ["a superuser", byRights, () => url],
])("a file of an API version, deployed by %s,", (_who, cases, address) => {
  beforeAll(async () => {
    await deployDatabase(address());
    served = await readAll(url, ["api"]);
  });

  it.each(cases)("is refused if it %s, and nothing of it stays", async (_name, sql, answer) => {
    await expect(deploy(sql, address())).rejects.toThrow(answer);
    expect(await readAll(url, ["api"])).toEqual(served);
  });

  it.each(harmless)("may make %s: each reader sees what its rights show", async (_name, sql, question) => {
    await deploy(sql, address());
    const count = async (role: string) => await ask(role, question);
    const { rows } = await superuser.query<{ open: string; hidden: string }>(
      "select (select count(auditee_name) from disclosed.general) as open, (select count(auditee_name) from suppressed.general) as hidden",
    );
    const [open, hidden] = [Number(rows[0]?.open), Number(rows[0]?.hidden)];
    expect(await count("api_public")).toBe(open);
    expect(await count("api_tribal")).toBe(open + hidden);
  });

  it.each(harmlessRefused)("may make %s, which nobody can use", async (_name, sql, question) => {
    await deploy(sql, address());
    await expect(ask("api_public", question)).rejects.toThrow("permission denied");
  });
});

it("the end of a session's locks lets no other deployment in between", async () => {
  await deploy(`select pg_advisory_unlock_all(); select count(*) from pg_locks`, url);
  expect((await deployDatabase(url)).apiSchemasChanged).toBe(true);
});

it("api_owner owns the API schemas and nothing else, and may read dissemination and nothing else", async () => {
  const { rows } = await superuser.query<{ owned: string }>(
    `select distinct classid::regclass || ' ' || coalesce(
       (select relnamespace::regnamespace::text from pg_class where oid = objid and classid = 'pg_class'::regclass),
       (select pronamespace::regnamespace::text from pg_proc where oid = objid and classid = 'pg_proc'::regclass),
       (select typnamespace::regnamespace::text from pg_type where oid = objid and classid = 'pg_type'::regclass),
       (select nspname from pg_namespace where oid = objid and classid = 'pg_namespace'::regclass), '') as owned
     from pg_shdepend where refobjid = 'api_owner'::regrole and deptype = 'o'
       and dbid = (select oid from pg_database where datname = current_database())`,
  );
  expect(rows.map(({ owned }) => owned).filter((one) => !/(admin_)?api_v1_1_0$/.test(one))).toEqual([
    "pg_default_acl ",
  ]);
  const { rows: reads } = await superuser.query<{ name: string }>(
    `select distinct relnamespace::regnamespace::text as name from pg_class
     where relkind in ('r', 'v', 'm') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       and has_table_privilege('api_owner', oid, 'select, insert, update, delete') order by 1`,
  );
  expect(reads.map(({ name }) => name)).toEqual([api, "dissemination"]);
});
