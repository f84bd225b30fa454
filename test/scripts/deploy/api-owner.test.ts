import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployDatabase, rebuildApi, repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { type DatabaseFiles, readFiles } from "../../../scripts/deploy/read-files.ts";
import { findFiles } from "../../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../../scripts/refresh/load-data-set.ts";
import { type ScratchServer, startScratchServer } from "../../../scripts/servers/scratch-database.ts";
import { runTransaction } from "../../../scripts/sql/run-transaction.ts";
import { connect } from "../../../service/connect.ts";
import { makeSmallSample } from "../../support/small-sample.ts";
import { withLogin } from "./support.ts";

// A careless or hostile file of an API version can do nothing: files run with the rights of api_owner, whoever deploys.

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
  [
    "makes a function that runs as another role",
    `create function ${api}.become() returns integer language sql stable set role = 'api_tribal' return 1`,
    /cannot set parameter "role" within security-definer function/,
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
    /more: It needs a comment/,
  ],
  [
    "sorts",
    `create view ${api}.more as select general.report_id from dissemination.general order by 1`,
    /more: API views select plain columns of one table/,
  ],
  [
    "embeds a list that is not weighed",
    `create function ${api}.again(${api}.general) returns setof ${api}.general language sql stable as 'select general.* from ${api}.general'; comment on function ${api}.again is 'Again.'`,
    /again\(.*needs a weight/,
  ],
  [
    "filters",
    `create view ${api}.more as select general.report_id from dissemination.general where audit_year > '2020'`,
    /more: API views select plain columns/,
  ],
  [
    "joins",
    `create view ${api}.more as select general.report_id from dissemination.general join dissemination.findings using (report_id)`,
    /more: API views select plain columns/,
  ],
  [
    "computes a column",
    `create view ${api}.more as select upper(general.report_id) as id from dissemination.general`,
    /more: API views select plain columns/,
  ],
  [
    "reads past dissemination",
    `create view ${api}.more as select general.report_id from disclosed.general`,
    /permission denied for schema disclosed/,
  ],
  ...[
    "language plpgsql volatile as $f$ begin set local role api_tribal; return 1; end $f$",
    "language plpgsql volatile as $f$ begin execute 'select 1'; return 1; end $f$",
    "language sql stable as $f$ select set_config('role', 'api_tribal', true)::int $f$",
    "language sql stable as $f$ select length(query_to_xml('select 1', true, true, '')::text) $f$",
  ].map((body): [string, string, RegExp] => [
    `switches the role of its caller: ${body}`,
    `create function ${api}.become() returns integer ${body}; comment on function ${api}.become is 'Become.'`,
    /become\(\): It could switch to another role/,
  ]),
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

let server: ScratchServer;
let superuser: Client;
let url: string;
let files: DatabaseFiles;
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
  files = await readFiles(repositoryDirectory);
});
afterAll(async () => {
  await superuser?.end();
  await server?.close();
});

/** Rebuilds the API with one more file, as a role; then asks something. Nothing of it stays. */
async function attempt<Answer>(
  as: string,
  sql: string,
  ask = async (): Promise<Answer | undefined> => undefined,
) {
  const file = { name: `db/api/${api}/zz.sql`, sql: `${sql.replace(/;?\s*$/, "")};\n` };
  const versions = files.api.versions.map((version) =>
    version.schema === api ? { ...version, files: [...version.files, file] } : version,
  );
  const undone = new Error("undone");
  let answer: Answer | undefined;
  const work = async () => {
    await superuser.query(`set local session authorization ${as}`);
    await rebuildApi(superuser, { ...files, api: { ...files.api, versions } }, {});
    await superuser.query("reset session authorization");
    answer = await ask();
    throw undone;
  };
  await runTransaction(superuser, work).catch((error) => {
    if (error !== undone) throw error;
  });
  return answer;
}

async function ask(role: string, question: string): Promise<number> {
  await superuser.query(`set local role ${role}`);
  const { rows } = await superuser.query<{ count: string }>(question);
  await superuser.query("reset role");
  return Number(rows[0]?.count);
}

describe("a file of an API version", () => {
  it.each(refused)("is refused if it %s", async (_name, sql, answer) => {
    await expect(attempt("owner", sql)).rejects.toThrow(answer);
  });

  const byRights = refused.filter(([, , answer]) => /permission|parameter|EXECUTE of/.test(answer.source));
  it("is refused the same if a superuser deploys it", async () => {
    for (const [, sql, answer] of byRights) await expect(attempt("postgres", sql)).rejects.toThrow(answer);
  });

  it.each(harmless)("may make %s: each reader sees what its rights show", async (_name, sql, question) => {
    const [row] = (
      await superuser.query<{ open: string; hidden: string }>(
        "select (select count(auditee_name) from disclosed.general) as open, (select count(auditee_name) from suppressed.general) as hidden",
      )
    ).rows;
    const [open, hidden] = [Number(row?.open), Number(row?.hidden)];
    const counts = await attempt("owner", sql, async () => [
      await ask("api_public", question),
      await ask("api_tribal", question),
    ]);
    expect(counts).toEqual([open, open + hidden]);
    expect(hidden).toBeGreaterThan(0);
  });

  it("may make a definer function over dissemination, which nobody can use", async () => {
    const sql = `create function ${api}.names() returns setof text language sql stable ${definer} as 'select auditee_name from dissemination.general'; ${commented("function", "names()")}`;
    const use = () => ask("api_public", `select count(*) from ${api}.names()`);
    await expect(attempt("owner", sql, use)).rejects.toThrow("permission denied");
  });

  it("lets no other deployment in between if it ends the session's locks", async () => {
    const other = await connect(url, "test");
    const locked = await attempt("owner", "select pg_advisory_unlock_all()", async () => {
      const { rows } = await other.query("select pg_try_advisory_lock(hashtext('db-deploy')) as free");
      return rows[0].free;
    });
    await other.end();
    expect(locked).toBe(false);
  });
});

it("api_owner may read dissemination and its own views, and nothing else", async () => {
  const { rows } = await superuser.query<{ name: string }>(
    `select distinct relnamespace::regnamespace::text as name from pg_class
     where relkind in ('r', 'v', 'm') and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       and has_table_privilege('api_owner', oid, 'select, insert, update, delete') order by 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([api, "dissemination"]);
});
