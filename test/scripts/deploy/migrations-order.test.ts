import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { deployDatabase } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import {
  createScratchDatabase,
  type ScratchDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { type Copy, copyRepository, queryOn, run } from "./support.ts";

const other = useOtherServer();
let database: ScratchDatabase;
let url: string;
let copy: Copy;
beforeEach(async () => {
  database = await createScratchDatabase();
  ({ url } = database);
  copy = await copyRepository();
  await copy.write(first, "-- Lock level: none.\ncreate table deployment.first (id int);\n");
  await deployDatabase(url, {}, { directory: copy.directory });
});
afterEach(async () => {
  await copy.dispose();
  await database.drop();
});

const first = "migrations/20980101000000000_first.sql";
const deploy = (...args: string[]) =>
  run(runDeploy, ["--directory", copy.directory, ...args], { DATABASE_URL: url, SCRATCH_URL: other.url });
const has = async (name: string) =>
  (await queryOn(url, `select to_regclass('${name}') is not null as found`))[0]?.found;
/** The plan and the deployment say the same. */
const expectRefusal = async (...lines: string[]) => {
  for (const args of [["--plan"], []]) {
    const { code, output } = await deploy(...args);
    expect(code).toBe(1);
    for (const line of lines) expect(output).toContain(line);
  }
};

describe("a migration that was run", () => {
  it("has its checksum in the database", async () => {
    const rows = await queryOn<{ sha256: string }>(url, "select sha256 from deployment.migrations");
    expect(rows.length).toBeGreaterThan(1);
    for (const { sha256 } of rows) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it("may not be edited", async () => {
    await copy.edit(first, (text) => text.replace("id int", "id bigint"));
    await expectRefusal(
      "These migrations were edited after this database ran them:\n  db/migrations/20980101000000000_first.sql\n",
      "Restore the files",
    );
  });

  it("may not be missing", async () => {
    await copy.remove(first);
    await expectRefusal(
      "This database ran migrations that db/migrations does not have:\n  20980101000000000_first\n",
      "This checkout is older than the database",
    );
  });
});

describe("a migration that is dated before the last one that was run", () => {
  it("is refused with the command that gives it a new date, which works", async () => {
    const early = "migrations/20970101000000000_early.sql";
    await copy.write(early, "-- Lock level: none.\ncreate table deployment.early ();\n");
    const renamed = "migrations/20980101000000001_early.sql";
    await expectRefusal(
      "dated before the last one that this database ran, 20980101000000000_first:",
      `\n  git mv db/${early} db/${renamed}\n`,
    );
    expect(await has("deployment.early")).toBe(false);
    await copy.remove(early);
    await copy.write(renamed, "-- Lock level: none.\ncreate table deployment.early ();\n");
    expect((await deploy()).code).toBe(0);
    expect(await has("deployment.early")).toBe(true);
  });
});

describe("a migration", () => {
  const file = "migrations/20980201000000000_second.sql";

  it("cannot commit half of itself, and --plan changes nothing", async () => {
    await copy.write(file, "-- Lock level: none.\ncreate table deployment.half ();\ncommit;\n");
    await expectRefusal(
      "db/migrations/20980201000000000_second.sql:3:1: ",
      "The deployment runs this file inside its own transaction",
    );
    expect(await has("deployment.half")).toBe(false);
  });

  it("leaves role and settings as they were", async () => {
    await copy.write(file, "-- Lock level: none.\nselect 1;\nset role publisher;\n");
    await expectRefusal("db/migrations/20980201000000000_second.sql: role is left changed");
  });

  it("says that it may run without a transaction, where it must", async () => {
    await copy.write(file, "-- Lock level: none.\ncreate index concurrently x on deployment.first (id);\n");
    await expectRefusal(
      "db/migrations/20980201000000000_second.sql:2:1: CREATE INDEX CONCURRENTLY",
      "in its first line: -- No transaction: <why>",
    );
  });
});

describe("a migration without a transaction", () => {
  const file = "migrations/20980201000000000_index.sql";
  const sql = [
    "-- No transaction: create index concurrently has several of its own.",
    "-- Lock level: share update exclusive; readers and writers go on.",
    "",
    "create table deployment.beside ();",
    "create unique index concurrently first_id on deployment.first (id);",
    "",
  ].join("\n");

  it("runs, and is run once; what it sets is not laid at the next one's door", async () => {
    await copy.write(file, `${sql}set maintenance_work_mem = '65MB';\n`);
    await copy.write("migrations/20980301000000000_after.sql", "-- Lock level: none.\nselect 1;\n");
    const plan = await deploy("--plan");
    expect(plan.code).toBe(3);
    expect((await deploy()).code).toBe(0);
    expect(
      await queryOn(
        url,
        "select indisvalid from pg_index where indexrelid = 'deployment.first_id'::regclass",
      ),
    ).toEqual([{ indisvalid: true }]);
    expect((await deploy()).output).toContain("Nothing to do.");
  });

  it("that fails says what is half done and how to undo it, each time until it is undone", async () => {
    await queryOn(url, "insert into deployment.first values (1), (1)");
    await copy.write(file, sql);
    const { code, output } = await deploy();
    expect(code).toBe(1);
    expect(output).toContain(
      'db/migrations/20980201000000000_index.sql:5:1: could not create unique index "first_id"',
    );
    expect(output).toContain("its first statement stays done");
    const undo = "drop index concurrently deployment.first_id;";
    expect(output).toContain(`deployment.first_id on deployment.first\n`);
    expect(output).toContain(undo);
    await expectRefusal("left an index half built", undo);
    await queryOn(url, undo);
    await queryOn(url, "delete from deployment.first; drop table deployment.beside");
    expect((await deploy()).code).toBe(0);
    expect(await has("deployment.first_id")).toBe(true);
  });
});
