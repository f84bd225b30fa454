import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runScript } from "../support/run-stack.ts";
import { createScratchDatabase, type ScratchDatabase } from "../support/scratch-database.ts";

let scratch: ScratchDatabase;
beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(async () => {
  await scratch.drop();
});

async function run(args: string[], env: Record<string, string>) {
  const script = runScript("db-deploy.ts", args, env);
  return { code: await script.exited, output: script.output() };
}

test("npm run db:deploy deploys an empty database once, taking the password apart from the address", async () => {
  const url = new URL(scratch.url);
  const env = {
    PGHOST: url.hostname,
    PGPORT: url.port,
    PGDATABASE: url.pathname.slice(1),
    PGPASSWORD: decodeURIComponent(url.password),
  };
  const first = await run(["--wait", "10s"], env);
  expect(first.code, first.output).toBe(0);
  expect(first.output).toMatch(/^Ran the migration \d+_create_roles\.$/m);
  expect(first.output).toContain("Rebuilt the API schemas");
  const client = new Client({ connectionString: scratch.url });
  await client.connect();
  const { rowCount } = await client.query("select from access.tiers");
  await client.end();
  expect(rowCount).toBeGreaterThan(0);
  expect(await run([], { DATABASE_URL: scratch.url })).toEqual({
    code: 0,
    output: "The API schemas are up to date.\n",
  });
});

test("npm run db:deploy says in one line what is missing or wrong", async () => {
  expect(await run([], {})).toEqual({
    code: 1,
    output:
      "db:deploy: DATABASE_URL is missing: it, or PGHOST and PGDATABASE, names the database. Set it in the environment or in .env.\n",
  });
  expect(await run([], { DATABASE_URL: "postgres://postgres@127.0.0.1:1/none" })).toEqual({
    code: 1,
    output: "db:deploy: connect ECONNREFUSED 127.0.0.1:1\n",
  });
  const { output } = await run([], { DATABASE_URL: scratch.url, PUBLISHER_PASSWORD_FILE: "/none" });
  expect(output).toBe(
    "db:deploy: PUBLISHER_PASSWORD_FILE names /none, which cannot be read (ENOENT). Mount it or set PUBLISHER_PASSWORD.\n",
  );
});
