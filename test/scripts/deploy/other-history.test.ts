import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCatalog } from "../../../scripts/deploy/catalog.ts";
import { deployDatabase, repositoryDirectory } from "../../../scripts/deploy/deploy-database.ts";
import { runDeploy } from "../../../scripts/deploy/deploy-program.ts";
import { readMigrations } from "../../../scripts/deploy/read-files.ts";
import { connect } from "../../../service/connect.ts";
import { freePorts } from "../../support/run-stack.ts";
import {
  createScratchDatabase,
  type ScratchDatabase,
  useOtherServer,
} from "../../support/scratch-database.ts";
import { type Copy, copyRepository, run } from "./support.ts";

// A database that was made by migrations which are not those of db/migrations.

const otherNames = ["20200101000000000_create_users", "20200102000000000_create_more"];
const refusal = [
  "This database ran migrations that db/migrations does not have:",
  ...otherNames.map((name) => `  ${name}`),
  "Nothing was changed. Deploy the commit that has them, or start with an empty database:",
  "  The stack of npm start: npm start -- --fresh makes its data, keys and secrets anew.",
  "  Any other: docs/operations.md, Back-up and restore, takes keys, agreements and history along.\n",
].join("\n");

let database: ScratchDatabase;
const other = useOtherServer();
let copy: Copy;
let state: string;

async function readState(): Promise<string> {
  const client = await connect(database.url, "test");
  try {
    const catalogue = await readCatalog(client);
    const { rows: migrations } = await client.query("select * from deployment.migrations order by id");
    const { rows: deployments } = await client.query("select * from deployment.api_schemas order by id");
    return JSON.stringify({ catalogue, migrations, deployments });
  } finally {
    await client.end();
  }
}

beforeAll(async () => {
  database = await createScratchDatabase();
  copy = await copyRepository();
  const directory = path.join(copy.directory, "migrations");
  const migrations = await readMigrations(copy.directory);
  for (const [index, name] of otherNames.entries())
    await rename(path.join(directory, `${migrations[index]?.id}.sql`), path.join(directory, `${name}.sql`));
  await deployDatabase(database.url, {}, { directory: copy.directory });
  state = await readState();
});
afterAll(async () => {
  await copy.dispose();
  await database.drop();
});

describe("a database that other migrations have made", () => {
  it.each([
    ["db:deploy", []],
    ["db:deploy --plan", ["--plan"]],
  ])("is left as it is by %s, which names them and says what to do", async (_command, args) => {
    const { code, output } = await run(runDeploy, args, {
      DATABASE_URL: database.url,
      SCRATCH_URL: other.url,
    });
    expect(code).toBe(1);
    expect(output).toContain(refusal.trimEnd());
    expect(await readState()).toBe(state);
  });

  it("is left as it is by npm start, which says the same", async () => {
    const stack = await mkdtemp(path.join(tmpdir(), "single-audit-stack-"));
    try {
      const env = { ...freePorts, STACK_DIRECTORY: stack, DATABASE_URL: database.url };
      const { code, output } = await run("start", [], env);
      expect([code, output]).toEqual([1, refusal]);
      expect(await readState()).toBe(state);
    } finally {
      await rm(stack, { recursive: true });
    }
  });
});

it("a database that is ahead of db/migrations is refused: the checkout is older", async () => {
  const ahead = await createScratchDatabase();
  const later = await copyRepository();
  try {
    const sql = "-- Lock level: new tables only.\ncreate table deployment.more ();\n";
    await later.write("migrations/20991231000000000_add.sql", sql);
    await deployDatabase(ahead.url, {}, { directory: later.directory });
    await expect(deployDatabase(ahead.url, {}, { directory: repositoryDirectory })).rejects.toThrow(
      /20991231000000000_add\nNothing was changed\. This checkout is older than the database/,
    );
  } finally {
    await later.dispose();
    await ahead.drop();
  }
});
