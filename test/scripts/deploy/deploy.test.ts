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
import {
  addedColumn,
  type Copy,
  copyRepository,
  describeView,
  queryOn,
  readAll,
  readApiCatalog,
  run,
  viewColumns,
  viewFile,
} from "./support.ts";

// Each test has a deployed database and a copy of db of its own.

const other = useOtherServer();
let database: ScratchDatabase;
let copy: Copy;
beforeEach(async () => {
  database = await createDeployedDatabase();
  copy = await copyRepository();
});
afterEach(async () => {
  await copy.dispose();
  await database.drop();
});

const deployWith = (env: Record<string, string>, ...args: string[]) =>
  run(runDeploy, ["--directory", copy.directory, ...args], {
    DATABASE_URL: database.url,
    SCRATCH_URL: other.url,
    ...env,
  });
const deploy = (...args: string[]) => deployWith({}, ...args);
const query = (sql: string) => queryOn(database.url, sql);
const has = async (name: string) =>
  (await query(`select to_regclass('${name}') is not null as found`))[0]?.found;
const migration = "migrations/20991231000000000_step.sql";
const migrate = (sql: string, head = "-- Lock level: none.") => copy.write(migration, `${head}\n${sql};\n`);
const addColumn = () => copy.write(viewFile, describeView([...viewColumns, addedColumn]));

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
    const url = new URL(empty.url);
    const env = {
      DATABASE_URL: "",
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: url.username,
      PGPASSWORD: url.password,
      PGDATABASE: url.pathname.slice(1),
    };
    const plan = await deployWith(env, "--plan");
    expect([plan.code, plan.output]).toEqual([3, expect.stringContaining("create_roles would run:")]);
    const { code, output } = await deployWith(env, "--json");
    expect([code, JSON.parse(output).apiSchemasChanged]).toEqual([0, true]);
    await empty.drop();
    const start = Date.now();
    const down = await deployWith({ DATABASE_URL: "postgres://postgres@127.0.0.1:1/x" }, "--wait", "1s");
    expect([down.code, down.output]).toEqual([1, expect.stringContaining("ECONNREFUSED")]);
    expect(Date.now() - start).toBeGreaterThan(1000);
  });

  it("keeps the old API if a file has an error, says where, and sets no password", async () => {
    await addColumn();
    await copy.edit("api/api_v1_1_0/resubmission.sql", (text) =>
      text.replace("resubmission.audit_year,", "resubmission.audit_yeer,"),
    );
    const before = await readApiCatalog(database.url);
    const { code, output } = await deployWith({ PUBLISHER_PASSWORD: "secret" });
    expect(code).toBe(1);
    expect(output).toMatch(/resubmission\.sql:\d+:3: column resubmission\.audit_yeer does not exist/);
    expect(output).toMatch(/ \d+ \| {3}resubmission\.audit_yeer,\n {6}\| {3}\^/);
    expect(output).toContain('hint: Perhaps you meant to reference the column "resubmission.audit_year".');
    expect(await readApiCatalog(database.url)).toBe(before);
    expect(await query("select rolpassword from pg_authid where rolname = 'publisher'")).toEqual([
      { rolpassword: null },
    ]);
    const fixed = await deployWith({ PUBLISHER_PASSWORD: "secret" }, "--directory", "db");
    expect(fixed.output).toContain("Set the password of publisher.");
    await query("alter role publisher password null");
  });

  it("runs one of several at a time, and the others find nothing to do", async () => {
    await addColumn();
    const all = await Promise.all([1, 2, 3].map(() => deploy("--json")));
    const changed = all.map(({ output }) => JSON.parse(output.slice(output.indexOf("{"))).apiSchemasChanged);
    expect(changed.sort()).toEqual([false, false, true]);
  });

  it("says whom it waits for and how to end that, and waits no longer than --wait", async () => {
    const holder = await connect(database.url, "db-deploy");
    const { rows } = await holder.query(
      "select pg_advisory_lock(hashtext('db-deploy')), pg_backend_pid() as pid",
    );
    const ending = `To end it: select pg_terminate_backend(${rows[0].pid})`;
    const { code, output } = await deploy("--wait", "1s");
    expect(code).toBe(1);
    expect(output).toContain(
      `Another deployment is running: process ${rows[0].pid} (db-deploy, as postgres, from `,
    );
    expect(output).toContain(ending);
    expect(output).toContain(
      "Nothing was deployed: 1 s have passed, and another deployment still runs: process",
    );
    await holder.end();
  });

  it("is let go within seconds by a deployment that is killed in the middle of a long statement", async () => {
    await migrate("select pg_sleep(600)");
    const env = { DATABASE_URL: database.url };
    const { child } = runScript("db-deploy.ts", ["--directory", copy.directory], env);
    const countWaiting = async (event: string) =>
      (
        await query(
          `select from pg_stat_activity where datname = current_database() and wait_event = '${event}'`,
        )
      ).length;
    await expect.poll(() => countWaiting("PgSleep")).toBe(1);
    const other = run(runDeploy, ["--wait", "10s"], env);
    await expect.poll(() => countWaiting("advisory")).toBe(1);
    child.kill("SIGKILL");
    expect(await other).toMatchObject({ code: 0, output: expect.stringContaining("Nothing to do.") });
  });

  it("deploys the approved plan, and refuses if the plan would be another now", async () => {
    await addColumn();
    const [, hash = ""] = /^Plan (\w+)$/m.exec((await deploy("--plan")).output) ?? [];
    await query("create table access.notes ()");
    const refused = await deploy("--plan-hash", hash, "--accept-drift");
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining(`plan ${hash} was approved, but`),
    ]);
    await query("drop table access.notes");
    expect((await deploy("--plan-hash", hash)).code).toBe(0);
    expect((await deploy("--plan-hash", hash)).code).toBe(1);
  });

  it("rolls production back, says what clients lose, and keeps the newest leak check", async () => {
    await copy.edit("data_set/find_leaks.sql", (text) =>
      text.replace("  -- Roles.\n", "  return query select 'newest' where false;\n  -- Roles.\n"),
    );
    expect((await deploy("--promise")).code).toBe(0);
    const older = ["--promise", "--directory", "db"];
    const kept = await deploy(...older);
    expect([kept.code, kept.output]).toEqual([
      0,
      expect.stringContaining("The leak check in this checkout is older than the one in the database"),
    ]);
    await addColumn();
    await migrate("create table deployment.more ()");
    expect((await deploy("--promise")).code).toBe(0);
    const refused = await deploy(...older);
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining("This checkout is older than the database"),
    ]);
    const back = await deploy(...older, "--roll-back");
    expect([back.code, back.output]).toEqual([
      0,
      expect.stringContaining(
        "Promises to clients that are broken:\n  api_v1_1_0: additional_eins.other_id was removed",
      ),
    ]);
    const [row] = await query(
      "select prosrc like '%newest%' as is_newest from pg_proc where proname = 'find_leaks'",
    );
    expect(row?.is_newest).toBe(true);
  });
});

describe("db:deploy --plan", () => {
  it("prints what would change and what only the deployment can tell, and changes nothing", async () => {
    await addColumn();
    await migrate(
      "create table deployment.more ();\ncreate unique index events_once on access.events (subject_id);\ndo $$ begin perform 1; end $$",
    );
    await copy.edit("data_set/check.sql", (text) => `${text}\n-- More.\n`);
    const before = await readAll(database.url);
    const { code, output } = await deployWith({ PUBLISHER_PASSWORD: "secret" }, "--plan");
    expect(code).toBe(3);
    for (const line of [
      "Migration 20991231000000000_step would run:\n    -- Lock level: none.\n    create table deployment.more ();",
      "~ view api_v1_1_0.additional_eins",
      "+ column other_id: text",
      "db/migrations/20991231000000000_step.sql:3: this statement fails if rows have duplicate values.",
      "db/migrations/20991231000000000_step.sql:4: this statement may depend on rows.",
      "The password of publisher would be set.",
      "db/data_set/check.sql has changed since the last deployment. If no refresh has used it yet, run one:",
    ])
      expect(output).toContain(line);
    const json = JSON.parse((await deploy("--plan", "--json")).output);
    expect(json.migrations).toMatchObject([{ name: "20991231000000000_step" }]);
    expect(await readAll(database.url)).toEqual(before);
    const done = await deploy();
    expect(done.output).toContain("db/data_set/check.sql has changed");
    expect((await deploy("--plan")).code).toBe(0);
  });

  it("cannot change the roles of the server that it plans for", async () => {
    const { code, output } = await deployWith({ SCRATCH_URL: database.url }, "--plan");
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("SCRATCH_URL names the server that the plan is for"),
    ]);
  });
});

describe("the plan and the deployment refuse the same:", () => {
  const refusals: [name: string, prepare: () => Promise<unknown>, ...lines: string[]][] = [
    [
      "an index that was created by hand",
      () =>
        migrate("create index by_hand on access.downloads (report_id)").then(() =>
          query("create index by_hand on access.downloads (report_id)"),
        ),
      'step.sql: relation "by_hand" already exists',
    ],
    [
      "a column that the published data set lacks",
      () => query("alter view dissemination.general rename column auditee_zip to zip"),
      "column general.auditee_zip does not exist",
      "publish a data set that has it first",
    ],
    [
      "an edited migration",
      () => copy.edit("migrations/20261121200500000_create_tiers.sql", (text) => `${text}-- More.\n`),
      "These migrations were edited after this database ran them:\n  db/migrations/20261121200500000_create_tiers.sql\n",
    ],
    [
      "a migration of another history",
      () =>
        query(
          "update deployment.migrations set name = '20200101000000000_other' where name like '%create_roles'",
        ),
      "This database ran migrations that db/migrations does not have:\n  20200101000000000_other\n",
      "start with an empty database:\n  With npm start, run npm start -- --fresh",
    ],
    [
      "an older checkout",
      () => query("insert into deployment.migrations (name, sha256) values ('20990101000000000_later', 'x')"),
      "20990101000000000_later\nThis checkout is older than the database.",
    ],
    [
      "a migration that is dated too early",
      () => copy.write("migrations/20200101000000000_early.sql", "-- Lock level: none.\nselect 1;\n"),
      "are dated before the last one that this database ran,",
      "Give them a later date: rename them with git mv.",
    ],
    [
      "a commit",
      () => migrate("create table deployment.half ();\ncommit"),
      "20991231000000000_step.sql: ",
      "The deployment runs this file inside its own transaction",
    ],
    [
      "an error, with its place",
      () => migrate("create table deployment.half ();\nselect 1 from deployment.no_such_table"),
      '20991231000000000_step.sql:3:15: relation "deployment.no_such_table" does not exist',
    ],
    [
      "a statement that needs no transaction",
      () => migrate("create index concurrently x on access.downloads (report_id)"),
      "step.sql: CREATE INDEX CONCURRENTLY",
      "in its first line: -- No transaction: <why>",
    ],
    [
      "an API schema that another role made",
      () => query("create schema api_v1_2_0").then(() => copy.copyVersion("v1_1_0", "v1_2_0")),
      "schema api_v1_2_0, which belongs to postgres",
    ],
    [
      "a table in an API schema, and a view that depends on the API",
      () =>
        query(
          "create table api_v1_1_0.notes (); create schema reports; create view reports.names as table api_v1_1_0.general",
        ),
      "table api_v1_1_0.notes\n  view reports.names, which depends on the API\n",
    ],
  ];
  it.each(refusals)("%s", async (_name, prepare, ...lines) => {
    await prepare();
    // A rebuild of the API would come next.
    await copy.edit("api/api_v1_1_0/schema.sql", (text) => `${text}-- More.\n`);
    for (const args of [["--plan"], ["--accept-drift"]]) {
      const { code, output } = await deploy(...args);
      expect(code).toBe(1);
      for (const line of lines) expect(output).toContain(line);
    }
    expect(await has("deployment.half")).toBe(false);
  });
});

describe("a migration without a transaction", () => {
  const head = "-- No transaction: create index concurrently has several of its own.\n-- Lock level: none.";
  const statement = "create unique index concurrently once on access.beside (id)";

  it("says what is half done and how to undo it, until it is undone; then it runs once", async () => {
    const before = "migrations/20991231000000000_before.sql";
    await copy.write(
      before,
      "-- Lock level: none.\ncreate table access.beside (id int);\ninsert into access.beside values (1), (1);\n",
    );
    const after = "migrations/20991231000000001_step.sql";
    await copy.write(after, `${head}\n${statement};\n`);
    const failed = await deploy();
    expect([failed.code, failed.output]).toEqual([
      1,
      expect.stringContaining('step.sql: could not create unique index "once"'),
    ]);
    expect((await deploy("--plan")).output).toContain("drop index access.once;");
    await query("drop index access.once; delete from access.beside");
    expect((await deploy("--accept-drift")).code).toBe(0);
    expect((await deploy()).output).toContain("Nothing to do.");
  });

  it("holds one statement", async () => {
    await migrate(`create table access.beside (id int);\n${statement}`, head);
    const { code, output } = await deploy();
    expect([code, output]).toEqual([1, expect.stringContaining("Such a migration has only one statement")]);
    expect(await has("access.beside")).toBe(false);
  });
});
