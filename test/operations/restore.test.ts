import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Client, type DatabaseError } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { withPublisher } from "../../scripts/refresh/connect-publisher.ts";
import { refreshDataSet } from "../../scripts/refresh/refresh-data-set.ts";
import { makeDirectory, submission, writeCsv } from "../scripts/refresh/support/source-files.ts";
import { createScratchDatabase, type ScratchDatabase } from "../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../support/scratch-service.ts";
import { runPgDump } from "./pg-dump.ts";

// The durable schemas of one database, backed up and restored into a new one as docs/operations.md says.

const project = path.resolve(import.meta.dirname, "../..");
const report = String(submission(1).report_id);
const hidden = String(submission(2).report_id);

let old: ScratchDatabase;
let fresh: ScratchDatabase;
let service: ScratchService;
let source: Awaited<ReturnType<typeof makeDirectory>>;
let dump: string;
const keys: Record<string, string> = {};

async function using<Result>(
  database: ScratchDatabase,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  return await work(client).finally(() => client.end());
}

const readAll = (database: ScratchDatabase, table: string) =>
  using(database, async (client) => (await client.query(`select * from ${table} order by 1`)).rows);

const publish = (database: ScratchDatabase) =>
  withPublisher({ connectionString: database.url }, (client) =>
    refreshDataSet(client, { from: source.directory, acceptShrink: true }),
  );

/** What psql --single-transaction does with the three files. */
async function restore(database: ScratchDatabase): Promise<void> {
  const read = (file: string) => readFile(path.join(project, "ops", file), "utf8");
  const files = [await read("before-restore.sql"), dump, await read("after-restore.sql")];
  await using(database, async (client) => {
    await client.query("begin");
    for (const sql of files) await client.query(sql);
    await client.query("commit");
  });
}

beforeAll(async () => {
  old = await createScratchDatabase();
  fresh = await createScratchDatabase();
  source = await makeDirectory();
  await writeCsv(source.directory, "general", [submission(1), submission(2, { is_public: "f" })]);
  await deployDatabase(old.url);
  await publish(old);
  await using(old, async (client) => {
    await client.query("set access.operator = 'Ada'");
    const issue = async (name: string, sql: string) => {
      const { rows } = await client.query<{ api_key_id: string }>(sql);
      keys[name] = String(rows[0]?.api_key_id);
    };
    await issue("individual", "select * from access.issue_key('individual', 'a@example.gov')");
    await issue("revoked", "select * from access.issue_key('individual', 'b@example.gov')");
    await client.query("select access.revoke_key($1)", [keys.revoked]);
    await client.query("select access.request_agreement('Test Nation', 'c@example.gov')");
    await client.query(
      `select access.decide_agreement(id, 'approved', 'Ada', 'Agency', 'ada@example.gov')
       from access.tribal_access_agreements`,
    );
    await issue(
      "tribal",
      `select issued.* from access.tribal_access_agreements,
       access.issue_key('tribal', 'c@example.gov', '', null, tribal_access_agreements.id) as issued`,
    );
    await client.query("update access.tiers set requests_at_a_time = 2 where name = 'individual'");
    await client.query("select set_config('request.api_key_id', $1, false)", [keys.tribal]);
    await client.query("select access.issue_access_token($1)", [hidden]);
  });
  dump = await runPgDump(old.url, ["--data-only", "--schema=access", "--schema=publication"]);
  await deployDatabase(fresh.url);
  await restore(fresh);
  service = await startScratchService(fresh.url);
});
afterAll(async () => {
  await service?.stop();
  await old?.drop();
  await fresh?.drop();
  await source?.remove();
});

const ask = (key: string, target: string) => service.request(target, String(keys[key]));

describe("a back-up of access and publication", () => {
  it("is pg_dump's, and holds no row of a data set", () => {
    expect(dump).toContain("-- PostgreSQL database dump");
    expect(dump).toMatch(/^INSERT INTO access\.api_keys /m);
    const schemas = [...dump.matchAll(/^INSERT INTO (\w+)\./gm)].map(([, schema]) => schema);
    expect([...new Set(schemas)].sort()).toEqual(["access", "publication"]);
    expect(dump).not.toContain("UEI1");
  });

  it("holds no key and no token", async () => {
    const issued = await using(old, (client) =>
      client.query("select * from access.issue_key('individual', 'd@example.gov')"),
    );
    const { api_key: key } = issued.rows[0];
    const later = await runPgDump(old.url, ["--data-only", "--schema=access", "--schema=publication"]);
    expect(later).not.toContain(key);
    expect(later).toContain(createHash("sha256").update(key).digest("hex"));
  });
});

describe("restored into a newly deployed database", () => {
  it.each([
    "access.tiers",
    "access.tribal_access_agreements",
    "access.downloads",
    "access.access_tokens",
    "access.settings",
    "publication.settings",
  ])("%s has the rows that it had", async (table) => {
    const rows = await readAll(fresh, table);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows).toEqual(await readAll(old, table));
  });

  it("has the record of every change, and goes on numbering after it", async () => {
    const before = (await readAll(fresh, "access.events")).map(({ id }) => Number(id));
    expect(before.length).toBeGreaterThan(8);
    await using(fresh, (client) => client.query("select access.request_agreement('Other', 'e@example.gov')"));
    const after = (await readAll(fresh, "access.events")).map(({ id }) => Number(id));
    expect(after.filter((id) => !before.includes(id)).every((id) => id > Math.max(...before))).toBe(true);
    expect(after.length).toBe(before.length + 1);
  });

  it("keeps its rules: nothing is removed, no token is without a download", async () => {
    const refusal = await using(fresh, (client) =>
      client.query("delete from access.api_keys").then(
        () => "none",
        (error: DatabaseError) => error.message,
      ),
    );
    expect(refusal).toBe("access.api_keys does not allow delete. Its rows are kept as a record.");
  });

  it("serves the empty data set at first, under the keys that worked, and not those that did not", async () => {
    expect(await ask("individual", "/general")).toMatchObject({ status: 200, json: [] });
    expect(await ask("revoked", "/general")).toMatchObject({ status: 401 });
    const live = (await readAll(fresh, "publication.data_sets")).filter(({ state }) => state !== "dropped");
    expect(live).toMatchObject([{ state: "live", source: "empty" }]);
  });

  it("serves the data set when it has been loaded from its source, though the history knows it", async () => {
    expect(await publish(fresh)).toMatchObject({ outcome: "published" });
    expect((await ask("individual", `/general?report_id=eq.${report}`)).json).toMatchObject([
      { auditee_uei: "UEI1" },
    ]);
    expect((await ask("individual", `/general?report_id=eq.${hidden}`)).json).toMatchObject([
      { auditee_uei: null },
    ]);
    expect((await ask("tribal", `/general?report_id=eq.${hidden}`)).json).toMatchObject([
      { auditee_uei: "UEI2" },
    ]);
    const sources = (await readAll(fresh, "publication.data_sets")).map(({ state }) => state);
    expect(sources.filter((state) => state === "live")).toHaveLength(1);
  });

  it("is refused where there are keys already, and changes nothing there", async () => {
    const before = await readAll(fresh, "access.api_keys");
    await expect(restore(fresh)).rejects.toThrow(
      "This database already has API keys, so it is not newly deployed.",
    );
    expect(await readAll(fresh, "access.api_keys")).toEqual(before);
  });
});
