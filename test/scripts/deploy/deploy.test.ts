import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { connect } from "../../../service/connect.ts";
import { runScript } from "../../support/run-stack.ts";
import {
  createDeployedDatabase,
  createScratchDatabase,
  type ScratchDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { queryOn, readAll, run, useCopy } from "./support.ts";

// Each test has a deployed database and a copy of db of its own.

const other = useOtherServer();
const copy = useCopy();
let database: ScratchDatabase;
beforeEach(async () => {
  database = await createDeployedDatabase();
});
afterEach(() => database.drop());

const deployWith = (env: Record<string, string>, ...args: string[]) =>
  run(runDeploy, ["--directory", copy.directory, ...args], {
    DATABASE_URL: database.url,
    SCRATCH_URL: other.url,
    ...env,
  });
const deploy = (...args: string[]) => deployWith({}, ...args);
const query = (sql: string) => queryOn(database.url, sql);
const isRefused = async (args: string[], ...reasons: string[]) => {
  const { code, output } = await deploy(...args);
  expect(code).toBe(1);
  for (const reason of reasons) expect(output).toContain(reason);
};

describe("db:deploy", () => {
  it("changes nothing when run again, and says so; so does the plan", async () => {
    const before = await readAll(database.url);
    const { code, output } = await run("db-deploy", [], { DATABASE_URL: database.url });
    expect([code, output]).toEqual([0, "The API schemas are up to date.\nNothing to do.\n"]);
    const plan = await deploy("--plan");
    expect([plan.code, plan.output]).toEqual([
      0,
      expect.stringMatching(/^Nothing to do: the database matches db\/\.\nPlan \w{16}\n$/),
    ]);
    expect(await readAll(database.url)).toEqual(before);
  });

  it("deploys to an empty database, and waits for one that is down", async () => {
    const empty = await createScratchDatabase();
    const plan = await deployWith({ DATABASE_URL: empty.url }, "--plan");
    expect([plan.code, plan.output]).toEqual([3, expect.stringContaining("create_roles would run:")]);
    const leak = "\nalter table suppressed_next.general disable row level security;\n";
    await copy.edit("data_set/indexes.sql", (text) => text + leak);
    const leaking = await deployWith({ DATABASE_URL: empty.url });
    expect([leaking.code, leaking.output]).toEqual([1, expect.stringContaining("has no row-level security")]);
    const publishes = await queryOn(empty.url, "select to_regclass('dissemination.data_set') as found");
    expect(publishes).toEqual([{ found: null }]);
    await copy.edit("data_set/indexes.sql", (text) => text.replace(leak, ""));
    const { code, output } = await deployWith({ DATABASE_URL: empty.url }, "--json");
    expect([code, JSON.parse(output).apiSchemasChanged]).toEqual([0, true]);
    await empty.drop();
    const start = Date.now();
    const down = await deployWith({ DATABASE_URL: "postgres://postgres@127.0.0.1:1/x" }, "--wait", "1s");
    expect([down.code, down.output]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
    expect(Date.now() - start).toBeGreaterThan(1000);
  });

  it("keeps the old API if a file has an error, says where, and sets no password", async () => {
    await copy.addColumn();
    await copy.edit("api/api_v1_1_0/resubmission.sql", (text) =>
      text.replace("resubmission.audit_year,", "resubmission.audit_yeer,"),
    );
    const before = await readAll(database.url);
    const { code, output } = await deployWith({ PUBLISHER_PASSWORD: "secret" });
    expect(code).toBe(1);
    expect(output).toMatch(/resubmission\.sql:\d+:3: column resubmission\.audit_yeer does not exist/);
    expect(output).toMatch(/ \d+ \| {3}resubmission\.audit_yeer,\n {6}\| {3}\^/);
    expect(output).toContain('hint: Perhaps you meant to reference the column "resubmission.audit_year".');
    expect(await readAll(database.url)).toEqual(before);
    const readPassword = () => query("select rolpassword as p from pg_authid where rolname = 'publisher'");
    expect(await readPassword()).toEqual([{ p: null }]);
    const fixed = await deployWith({ PUBLISHER_PASSWORD: "secret" }, "--directory", "db");
    expect(fixed.output).toContain("Set the password of publisher.");
    expect(await readPassword()).toEqual([{ p: expect.stringMatching(/^SCRAM-SHA-256\$/) }]);
    await query("alter role publisher password null");
  });

  it("does not pass the settings of a file on to what comes after it", async () => {
    await copy.migrate("set search_path = access");
    await copy.migrate("create table deployment.now as select current_setting('search_path') as path", 2);
    await copy.edit("api/api_v1_1_0/schema.sql", (text) => `${text}set statement_timeout = 1;\n`);
    expect((await deploy()).code).toBe(0);
    expect(await query("table deployment.now")).toEqual([{ path: '"$user", public' }]);
  });

  it("runs one of several at a time, and the others find nothing to do", async () => {
    await copy.addColumn();
    const all = await Promise.all([1, 2, 3].map(() => deploy("--json")));
    const changed = all.map(({ output }) => JSON.parse(output.slice(output.indexOf("{"))).apiSchemasChanged);
    expect(changed.sort()).toEqual([false, false, true]);
  });

  it("says whom it waits for and how to end that, and waits no longer than --wait", async () => {
    const holder = await connect(database.url, "db-deploy");
    const { rows } = await holder.query(
      "select pg_advisory_lock(hashtext('db-deploy')), pg_backend_pid() as pid",
    );
    const { code, output } = await deploy("--wait", "1s");
    await holder.end();
    expect(code).toBe(1);
    expect(output).toContain(`Another deployment is running: process ${rows[0].pid} (db-deploy, as postgres`);
    expect(output).toContain(`To end it: select pg_terminate_backend(${rows[0].pid})`);
    expect(output).toContain("Nothing was deployed, because another deployment is still running: process");
  });

  it("is let go within seconds by a deployment that is killed in the middle of a long statement", async () => {
    await copy.migrate("select pg_sleep(600)");
    const env = { DATABASE_URL: database.url };
    const { child } = runScript("db-deploy.ts", ["--directory", copy.directory], env);
    const countWaiting = async (event: string) => {
      const waits = `datname = current_database() and wait_event = '${event}'`;
      return (await query(`select from pg_stat_activity where ${waits}`)).length;
    };
    await expect.poll(() => countWaiting("PgSleep")).toBe(1);
    const other = run(runDeploy, ["--wait", "10s"], env);
    await expect.poll(() => countWaiting("advisory")).toBe(1);
    child.kill("SIGKILL");
    expect(await other).toMatchObject({ code: 0, output: expect.stringContaining("Nothing to do.") });
  });

  it("deploys the approved plan, and refuses if the plan would be another now", async () => {
    await copy.addColumn();
    const [, hash = ""] = /^Plan (\w+)$/m.exec((await deploy("--plan")).output) ?? [];
    await query("create table access.notes ()");
    await isRefused(["--plan-hash", hash, "--accept-drift"], `plan ${hash} was approved, but`);
    await query("drop table access.notes");
    expect((await deploy("--plan-hash", hash)).code).toBe(0);
    await isRefused(["--plan-hash", hash], `plan ${hash} was approved, but`);
  });

  it("rolls production back, says what clients lose, and keeps the newest leak check", async () => {
    await copy.edit("data_set/find_leaks.sql", (text) =>
      text.replace("  -- Roles.\n", "  return query select 'newest' where false;\n  -- Roles.\n"),
    );
    expect((await deploy("--promise")).code).toBe(0);
    const older = ["--promise", "--directory", "db"];
    const kept = await deploy(...older);
    expect(kept).toMatchObject({
      code: 0,
      output: expect.stringContaining("The leak check in this checkout"),
    });
    await copy.addColumn();
    await copy.migrate("create table deployment.more ()");
    expect((await deploy("--promise")).code).toBe(0);
    await isRefused(older, "This checkout is older than the database");
    const back = await deploy(...older, "--roll-back");
    const loss = "Broken promises to clients:\n  api_v1_1_0: additional_eins.other_id was removed";
    expect(back).toMatchObject({ code: 0, output: expect.stringContaining(loss) });
    const sql = "select prosrc like '%newest%' as is_newest from pg_proc where proname = 'find_leaks'";
    expect(await query(sql)).toEqual([{ is_newest: true }]);
  });
});

describe("db:deploy --plan", () => {
  it("prints what would change and what only the deployment can tell, and changes nothing", async () => {
    await copy.addColumn();
    await copy.migrate(
      "create table deployment.more ();\ncreate unique index events_once on access.events (subject_id);\ndo $$ begin perform 1; end $$",
    );
    await copy.edit("data_set/check.sql", (text) => `${text}\n-- More.\n`);
    const before = await readAll(database.url);
    const { code, output } = await deployWith({ PUBLISHER_PASSWORD: "secret" }, "--plan");
    expect(code).toBe(3);
    for (const line of [
      "Migration 20991231000000001_step would run:\n    create table deployment.more ();",
      "~ view api_v1_1_0.additional_eins",
      "+ column other_id: text",
      "db/migrations/20991231000000001_step.sql:2: this statement fails if rows have duplicate values.",
      "db/migrations/20991231000000001_step.sql:3: this statement may depend on rows.",
      "The password of publisher would be set.",
      "db/data_set/check.sql has changed since the last deployment.",
    ])
      expect(output).toContain(line);
    const json = JSON.parse((await deploy("--plan", "--json")).output);
    expect(json.migrations).toMatchObject([{ name: "20991231000000001_step" }]);
    expect(await readAll(database.url)).toEqual(before);
    expect((await deploy()).output).toContain("db/data_set/check.sql has changed");
    expect((await deploy("--plan")).code).toBe(0);
  });

  it("cannot change the roles of the server that it plans for", async () => {
    const { code, output } = await deployWith({ SCRATCH_URL: database.url }, "--plan");
    expect([code, output]).toEqual([1, expect.stringContaining("names the server that the plan is for")]);
  });
});

describe("the plan and the deployment refuse the same:", () => {
  const byHand = "create index by_hand on access.downloads (report_id)";
  const refusals: Record<string, [prepare: () => Promise<unknown>, ...lines: string[]]> = {
    "an index that was created by hand": [
      () => Promise.all([copy.migrate(byHand), query(byHand)]),
      'step.sql: relation "by_hand" already exists',
    ],
    "a column that the published data set lacks": [
      () => query("alter view dissemination.general rename column auditee_zip to zip"),
      "column general.auditee_zip does not exist",
      "publish a data set that has it first",
    ],
    "an edited migration": [
      () => copy.edit("migrations/20261121200500000_create_tiers.sql", (text) => `${text}-- More.\n`),
      "These migrations were edited after this database ran them:\n  db/migrations/20261121200500000_create_tiers.sql\n",
    ],
    "a migration of another history": [
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
    "a commit": [
      () => copy.migrate("create table deployment.half ();\ncommit"),
      "20991231000000001_step.sql: ",
      "The deployment runs this file inside its own transaction",
    ],
    "a role that stays changed": [
      () => copy.migrate("create table deployment.half ();\nset role publisher"),
      "step.sql: the file leaves the role changed from postgres to publisher",
    ],
    "an error, with its place": [
      () => copy.migrate("create table deployment.half ();\nselect 1 from deployment.no_such_table"),
      '20991231000000001_step.sql:2:15: relation "deployment.no_such_table" does not exist',
    ],
    "a statement that needs no transaction": [
      () => copy.migrate("create index concurrently x on access.downloads (report_id)"),
      "step.sql: CREATE INDEX CONCURRENTLY",
      "in its first line: -- No transaction: <why>",
    ],
    "an API schema that another role made": [
      () => Promise.all([query("create schema api_v1_2_0"), copy.copyVersion("v1_2_0")]),
      "schema api_v1_2_0, which belongs to postgres",
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
    // A rebuild of the API would come next.
    await copy.edit("api/api_v1_1_0/schema.sql", (text) => `${text}-- More.\n`);
    for (const args of [["--plan"], ["--accept-drift"]]) await isRefused(args, ...lines);
    expect(await query("select to_regclass('deployment.half') as found")).toEqual([{ found: null }]);
  });
});

describe("a migration without a transaction", () => {
  const head = "-- No transaction: create index concurrently has several of its own.\n";
  const statement = "create unique index concurrently once on access.beside (id)";

  it("says how to see what is half done and how to undo it; then it runs once", async () => {
    await copy.migrate("create table access.beside (id int);\ninsert into access.beside values (1), (1)", 1);
    await copy.migrate(statement, 2, head);
    await isRefused([], 'step.sql: could not create unique index "once"');
    expect((await deploy("--plan")).output).toContain("drop index access.once;");
    await query("drop index access.once; delete from access.beside");
    expect((await deploy("--accept-drift")).code).toBe(0);
    expect((await deploy()).output).toContain("Nothing to do.");
  });

  it("holds one statement", async () => {
    await copy.migrate(`create table access.beside (id int);\n${statement}`, 1, head);
    await isRefused([], "Such a migration has only one statement");
    expect(await query("select to_regclass('access.beside') as found")).toEqual([{ found: null }]);
  });
});
