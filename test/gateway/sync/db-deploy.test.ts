import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { runScript } from "../../support/run-stack.ts";
import { createScratchDatabase } from "../../support/scratch-database.ts";

test("npm run db:deploy takes the address as docker-compose.yml gives it: without a password, which is in a file", async () => {
  const scratch = await createScratchDatabase();
  const directory = await mkdtemp(path.join(tmpdir(), "secrets-"));
  try {
    const url = new URL(scratch.url);
    const passwordFile = path.join(directory, "postgres_password");
    await writeFile(passwordFile, decodeURIComponent(url.password));
    const script = runScript("db-deploy.ts", ["--wait", "10s"], {
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: url.username,
      PGDATABASE: url.pathname.slice(1),
      PGPASSWORD_FILE: passwordFile,
    });
    expect(await script.exited, script.output()).toBe(0);
    const client = new Client({ connectionString: scratch.url });
    await client.connect();
    const { rowCount } = await client.query("select from access.tiers");
    await client.end();
    expect(rowCount).toBeGreaterThan(0);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await scratch.drop();
  }
});
