import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Client, escapeLiteral } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { deployDatabase } from "../../scripts/deploy/deploy-database.ts";
import { withPublisher } from "../../scripts/refresh/connect-publisher.ts";
import { refreshDataSet } from "../../scripts/refresh/refresh-data-set.ts";
import { connect } from "../../service/connect.ts";
import { makeDirectory, submission, writeCsv } from "../scripts/refresh/support/source-files.ts";
import {
  createDeployedDatabase,
  createScratchDatabase,
  type ScratchDatabase,
} from "../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../support/scratch-service.ts";

// The durable schemas of one database, restored into a new one as docs/operations.md says. Here, the rows are copied as JSON;
// npm run test:compose backs up with pg_dump.

const project = path.resolve(import.meta.dirname, "../..");
const report = String(submission(1).report_id);
const hidden = String(submission(2).report_id);

let old: ScratchDatabase;
let fresh: ScratchDatabase;
let service: ScratchService;
let source: Awaited<ReturnType<typeof makeDirectory>>;
let backup: string;
const keys: Record<string, string> = {};
const secrets: string[] = [];

async function using<Result>(
  database: ScratchDatabase,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect(database.url, "test");
  return await work(client).finally(() => client.end());
}

const readAll = (database: ScratchDatabase, table: string) =>
  using(database, async (client) => (await client.query(`select * from ${table} order by 1`)).rows);

const publish = (database: ScratchDatabase) =>
  withPublisher({ connectionString: database.url }, (client) =>
    refreshDataSet(client, { from: source.directory, acceptShrink: true }),
  );

/** Inserts the rows of all durable tables. Their order is that of their creation, so references come later. */
const dump = (database: ScratchDatabase) =>
  using(database, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class
       where relkind = 'r' and relnamespace in ('access'::regnamespace, 'publication'::regnamespace) order by oid`,
    );
    const statements: string[] = [];
    for (const { name } of tables) {
      const { rows } = await client.query(
        `select coalesce(json_agg(t), '[]')::text as all from ${name} as t`,
      );
      const records = `json_populate_recordset(null::${name}, ${escapeLiteral(rows[0].all)})`;
      statements.push(`insert into ${name} overriding system value select * from ${records}`);
    }
    const { rows: sequences } = await client.query<{ statement: string }>(
      `select format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value) as statement
       from pg_sequences where schemaname in ('access', 'publication') and last_value is not null`,
    );
    return [...statements, ...sequences.map(({ statement }) => statement)].join(";\n");
  });

/** What psql --single-transaction does with the three files. */
async function restore(database: ScratchDatabase): Promise<void> {
  const read = (file: string) => readFile(path.join(project, "ops", file), "utf8");
  const files = [await read("before-restore.sql"), backup, await read("after-restore.sql")];
  await using(database, async (client) => {
    await client.query("begin");
    for (const sql of files) await client.query(sql);
    await client.query("commit");
  });
}

beforeAll(async () => {
  old = await createDeployedDatabase();
  // A copy of the same template would have the same empty data set.
  fresh = await createScratchDatabase();
  await deployDatabase(fresh.url);
  source = await makeDirectory();
  await writeCsv(source.directory, "general", [submission(1), submission(2, { is_public: "f" })]);
  await publish(old);
  await using(old, async (client) => {
    await client.query("set access.operator = 'Ada'");
    const issue = async (name: string, sql: string) => {
      const { rows } = await client.query<{ api_key_id: string; api_key: string }>(sql);
      keys[name] = String(rows[0]?.api_key_id);
      secrets.push(String(rows[0]?.api_key));
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
    const { rows } = await client.query("select access.issue_access_token($1) as token", [hidden]);
    secrets.push(rows[0].token);
  });
  backup = await dump(old);
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

it("holds no row of a data set, no key and no token", async () => {
  expect(backup).not.toContain("UEI1");
  for (const secret of secrets) expect(backup).not.toContain(secret);
});

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

it("keeps its rules: no row can be removed", async () => {
  const removal = using(fresh, (client) => client.query("delete from access.api_keys"));
  await expect(removal).rejects.toThrow("access.api_keys does not allow delete.");
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
