import { describe, expect, it } from "vitest";
import { applyApi } from "../../../scripts/deploy/apply-api.ts";
import { readFiles } from "../../../scripts/deploy/read-files.ts";
import { describePasswords } from "../../../scripts/deploy/role-passwords.ts";
import { runTransaction } from "../../../scripts/sql/run-transaction.ts";
import { connect } from "../../../shared/connect.ts";
import { runScript } from "../../support/run-stack.ts";
import { createScratchDatabase } from "../../support/scratch-database.ts";
import { readAll, run, runDeploy, useDeployments } from "./support.ts";

// Each test has its own deployed database and its own copy of db.

const own = useDeployments();
const { copy, query, deploy, exits } = own;

describe("db:deploy", () => {
  it("changes nothing when it runs again, and says so, as does the plan", async () => {
    const before = await readAll(own.database.url);
    const again = await run(runDeploy, [], own.env);
    expect(again).toEqual({ code: 0, output: "The API schemas are up to date.\nNothing to do.\n" });
    await exits(0, ["--plan"], /^Nothing to deploy\.\nPlan \w{16}\n$/);
    expect(await readAll(own.database.url)).toEqual(before);
  });

  it("deploys to an empty database, unless the empty data set leaks, and says what to run", async () => {
    await own.database.drop();
    own.database = await createScratchDatabase();
    own.env.DATABASE_URL = own.database.url;
    await exits(3, ["--plan"], "create_roles would run:");
    const policy = "enable row level security";
    const file = "functions/data_set/complete_table.sql";
    await copy.edit(file, (text) => text.replaceAll(policy, "disable row level security"));
    await exits(1, [], "Missing: row-level security on suppressed.general");
    const served = "select to_regnamespace('api_v1_1_0') as found";
    expect(await query(served)).toEqual([{ found: null }]);
    await own.database.drop();
    own.database = await createScratchDatabase();
    own.env.DATABASE_URL = own.database.url;
    await copy.edit(file, (text) => text.replaceAll("disable row level security", policy));
    await exits(0, ["--json"], '"apiSchemasChanged": true');
  });

  it("refuses to deploy over what was changed by hand unless told to, and lists it where no scratch server can be started, as in a container", async () => {
    await query("create table access.by_hand ()");
    own.env.SCRATCH_URL = "postgres://127.0.0.1:1/none";
    await exits(4, [], "+ table access.by_hand");
    await copy.addColumn();
    const before = await readAll(own.database.url);
    await exits(4, [], "this database was changed by hand");
    expect(await readAll(own.database.url)).toEqual(before);
    await exits(0, ["--accept-drift"]);
    expect(await query("select other_id from api_v1_1_0.additional_eins")).toEqual([]);
  });

  it("waits for a database that is down", async () => {
    own.env.DATABASE_URL = "postgres://postgres@127.0.0.1:1/x";
    const start = Date.now();
    await exits(1, ["--wait", "1s"], "ECONNREFUSED");
    expect(Date.now() - start).toBeGreaterThan(1000);
  });

  it("keeps the old API if a file has an error, says where it is, and sets no password", async () => {
    await copy.addColumn();
    await copy.edit("api/api_v1_1_0/resubmission.sql", (text) =>
      text.replace("resubmission.audit_year,", "resubmission.audit_yeer,"),
    );
    own.env.PUBLISHER_PASSWORD = "secret";
    const before = await readAll(own.database.url);
    await exits(
      1,
      [],
      /resubmission\.sql:\d+:3: column resubmission\.audit_yeer does not exist/,
      / \d+ \| {3}resubmission\.audit_yeer,\n {6}\| {3}\^/,
      'hint: Perhaps you meant to reference the column "resubmission.audit_year".',
    );
    expect(await readAll(own.database.url)).toEqual(before);
    const readPassword = () => query("select rolpassword as p from pg_authid where rolname = 'publisher'");
    expect(await readPassword()).toEqual([{ p: null }]);
    await exits(0, ["--directory", "db"], "The password of publisher was set.");
    expect(await readPassword()).toEqual([{ p: expect.stringMatching(/^SCRAM-SHA-256\$/) }]);
    await query("alter role publisher password null");
  });

  it("refuses a password that clients would send differently, and changes nothing", async () => {
    await copy.addColumn();
    const before = await readAll(own.database.url);
    for (const character of ["\u00a0", "ｐ", "e\u0301", "\u00ad", "\u1806", "ﬁ"]) {
      own.env.PUBLISHER_PASSWORD = `secret${character}`;
      await exits(1, [], "replace some characters in the password of publisher");
    }
    expect(await readAll(own.database.url)).toEqual(before);
    expect(describePasswords({ publisher: "100%20 /?#@:éñß中😀" })).toHaveLength(1);
  });

  it("resets the settings that migrations and API files change", async () => {
    await copy.migrate("set search_path = access");
    await copy.migrate("create table deployment.now as select current_setting('search_path') as path", 2);
    // With this setting, no view would look like plain columns of one view.
    await copy.edit("api/api_v1_1_0/schema.sql", (text) => `${text}set quote_all_identifiers = on;\n`);
    await exits(0, []);
    expect(await query("table deployment.now")).toEqual([{ path: '"$user", public' }]);
  });

  it("runs one deployment at a time, and those that waited find nothing to do", async () => {
    await copy.addColumn();
    const all = await Promise.all([1, 2, 3].map(() => deploy("--json")));
    const changed = all.map(({ output }) => JSON.parse(output.slice(output.indexOf("{"))).apiSchemasChanged);
    expect(changed.sort()).toEqual([false, false, true]);
  });

  it("keeps others out until each transaction ends, even if a file releases the session's locks", async () => {
    const [client, other] = [
      await connect(own.database.url, "test"),
      await connect(own.database.url, "test"),
    ];
    const tryLock = () => other.query("select pg_try_advisory_xact_lock(hashtext('db-deploy')) as free");
    const work = async () => {
      await client.query("select pg_advisory_unlock_all()");
      return (await tryLock()).rows;
    };
    expect(await runTransaction(client, work)).toEqual([{ free: false }]);
    expect((await tryLock()).rows).toEqual([{ free: true }]);
    await Promise.all([client.end(), other.end()]);
  });

  it("lets running requests end before it drops what they read", async () => {
    const [client, request] = [
      await connect(own.database.url, "test"),
      await connect(own.database.url, "test"),
    ];
    await request.query("select pg_advisory_lock_shared(hashtext('api_schemas'))");
    await client.query("begin; set local lock_timeout = 1");
    const files = await readFiles(copy.directory);
    await expect(applyApi(client, files, { others: [], triggers: new Set() })).rejects.toThrow(
      "lock timeout",
    );
    await Promise.all([client.end(), request.end()]);
  });

  it("says which process it waits for and how to end it, and waits no longer than --wait", async () => {
    const holder = await connect(own.database.url, "db-deploy");
    const { rows } = await holder.query(
      "select pg_advisory_lock(hashtext('db-deploy')), pg_backend_pid() as pid",
    );
    const { pid } = rows[0];
    await exits(
      1,
      ["--wait", "1s"],
      `Another deployment is running: process ${pid} (db-deploy, as postgres`,
      `To end it: select pg_terminate_backend(${pid})`,
      "Nothing was deployed, because another deployment is still running: process",
    );
    await holder.end();
  });

  it("continues within seconds if the deployment that it waits for is killed during a long statement", async () => {
    await copy.migrate("select pg_sleep(600)");
    const { child } = runScript(
      "db-deploy.ts",
      ["--accept-unknown-release", "--directory", copy.directory],
      own.env,
    );
    const countWaiting = async (event: string) => {
      const waits = `datname = current_database() and wait_event = '${event}'`;
      return (await query(`select from pg_stat_activity where ${waits}`)).length;
    };
    await expect.poll(() => countWaiting("PgSleep")).toBe(1);
    const next = exits(0, ["--wait", "10s", "--directory", "db"], "Nothing to do.");
    await expect.poll(() => countWaiting("advisory")).toBe(1);
    child.kill("SIGKILL");
    await next;
  });
});

const concurrently = "create unique index concurrently once on access.beside (id)";
const noTransaction = `-- No transaction: it has several of its own.\n${concurrently}`;

describe("the plan and the deployment both refuse", () => {
  const refusals: Record<string, [prepare: () => Promise<unknown>, ...lines: string[]]> = {
    "an edited migration": [
      () => copy.edit("migrations/20261128000005000_create_tiers.sql", (text) => `${text}-- More.\n`),
      "These migrations were edited after this database ran them:\n  db/migrations/20261128000005000_create_tiers.sql\n",
    ],
    "a migration history that differs": [
      () => query("update deployment.migrations set name = '2020_other' where name like '%create_roles'"),
      "This database ran migrations that db/migrations does not have:\n  2020_other\n",
      "start with an empty database:\n  On a local stack, run npm start -- --fresh",
    ],
    "an older checkout": [
      () => query("insert into deployment.migrations (name, sha256) values ('2099_later', 'x')"),
      "2099_later\nThis checkout is older than the database.",
    ],
    "a migration that is dated too early": [
      () => copy.write("migrations/20200101000000000_early.sql", "select 1;\n"),
      "are dated before the last one that this database ran,",
      "Give them a later date: rename them with git mv.",
    ],
    "a migration that commits": [
      () => copy.migrate("create table deployment.half ();\ncommit"),
      "20991231000000001_step.sql: ",
      "The deployment runs this file inside a transaction",
    ],
    "a migration that leaves the role changed": [
      () => copy.migrate("create table deployment.half ();\nset role publisher"),
      "step.sql: the file leaves the role changed from postgres to publisher",
    ],
    "an error in a migration, with its position": [
      () => copy.migrate("create table deployment.half ();\nselect 1 from deployment.no_such_table"),
      '20991231000000001_step.sql:2:15: relation "deployment.no_such_table" does not exist',
    ],
    "a statement that cannot run in a transaction": [
      () => copy.migrate(concurrently),
      "step.sql: CREATE INDEX CONCURRENTLY",
      "in its first line: -- No transaction: <why>",
    ],
    "two statements without a transaction": [
      () => copy.migrate(`${noTransaction};\ncreate table deployment.half ()`),
      "Such a migration may have only one statement",
    ],
    "an API schema that another role created": [
      () => Promise.all([query("create schema api_v1_9_0"), copy.copyVersion("v1_9_0")]),
      "schema api_v1_9_0, which belongs to postgres",
    ],
    "a table in an API schema, and a view that depends on the API": [
      () =>
        query(
          "create table api_v1_1_0.notes (); create schema reports; create view reports.names as table api_v1_1_0.general",
        ),
      "table api_v1_1_0.notes\n  view reports.names, which depends on the API\n",
    ],
  };
  it.each(Object.entries(refusals))("%s", async (_name, [prepare, ...lines]) => {
    await prepare();
    // Without the refusal, the API would be rebuilt next.
    await copy.edit("api/api_v1_1_0/schema.sql", (text) => `${text}-- More.\n`);
    for (const args of [["--plan"], ["--accept-drift"]]) await exits(1, args, ...lines);
    expect(await query("select to_regclass('deployment.half') as found")).toEqual([{ found: null }]);
  });
});
