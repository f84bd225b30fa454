import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { escapeLiteral } from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { deployDatabase, repositoryDirectory } from "../../scripts/deploy/deploy-database.ts";
import { withPublisher } from "../../scripts/refresh/connect-publisher.ts";
import { compareWithLedger, continueLedger } from "../../scripts/refresh/ledger.ts";
import { refreshDataSet } from "../../scripts/refresh/refresh-data-set.ts";
import { submission, writeCsv } from "../scripts/refresh/support/source-files.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { queryOn } from "../support/query-on.ts";
import {
  createDeployedDatabase,
  type ScratchDatabase,
  useDeployedDatabase,
} from "../support/scratch-database.ts";
import { type ScratchService, startScratchService } from "../support/scratch-service.ts";

// Restores the durable schemas of one database into a new one, as docs/operations.md says. The rows are copied as JSON;
// npm run test:compose uses pg_dump.

const report = String(submission(1).report_id);
const hidden = String(submission(2).report_id);

const old = useDeployedDatabase();
let fresh: ScratchDatabase;
let service: ScratchService;
let source: string;
let backup: string;
const keys: Record<string, string> = {};
const secrets: string[] = [];

const readAll = ({ url }: { url: string }, name: string) => queryOn(url, `select * from ${name} order by 1`);

const publish = (database: { url: string }) =>
  withPublisher({ connectionString: database.url }, (client) =>
    refreshDataSet(client, { from: source, acceptShrink: true }),
  );

/** Returns SQL that inserts the rows of all durable tables, oldest table first, so that referenced rows come first. */
async function dump(schemas = ["access", "publication", "ledger"]): Promise<string> {
  const { rows: tables } = await old.client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relkind = 'r' and relnamespace = any ($1::regnamespace[]) order by oid`,
    [schemas],
  );
  const statements: string[] = [];
  for (const { name } of tables) {
    const { rows } = await old.client.query(`select coalesce(json_agg(t), '[]')::text as all from ${name} t`);
    const records = `json_populate_recordset(null::${name}, ${escapeLiteral(rows[0].all)})`;
    statements.push(`insert into ${name} overriding system value select * from ${records}`);
  }
  const { rows: sequences } = await old.client.query<{ statement: string }>(
    `select format('select setval(%L, %s)', format('%I.%I', schemaname, sequencename), last_value) as statement
     from pg_sequences where schemaname = any ($1) and last_value is not null`,
    [schemas],
  );
  return [...statements, ...sequences.map(({ statement }) => statement)].join(";\n");
}

/** Runs the three files as psql --single-transaction does. */
async function restore({ url }: { url: string }, backup: string): Promise<void> {
  const read = (file: string) => readFile(path.join(import.meta.dirname, "../../deploy", file), "utf8");
  const files = [await read("before-restore.sql"), backup, await read("after-restore.sql")];
  await queryOn(url, `begin;\n${files.join(";\n")};\ncommit`);
}

beforeAll(async () => {
  fresh = await createDeployedDatabase();
  // Production has promised what it serves.
  await deployDatabase(old.url, {}, { promises: true });
  source = await makeDirectory();
  await writeCsv(source, "general", [submission(1), submission(2, { is_public: "f" })]);
  await publish(old);
  await old.client.query(`
    set access.operator = 'Ada';
    select access.request_agreement('Test Nation', 'c@example.gov');
    select access.decide_agreement(id, 'approved', 'Ada', 'Agency', 'ada@example.gov')
    from access.tribal_access_agreements;
    update access.tiers set requests_at_a_time = 2 where name = 'individual';
    insert into publication.changes (from_data_set, to_data_set, added, changed, removed)
    select id, id, '{}', '{}', '{}' from publication.data_sets`);
  const { rows: issued } = await old.client.query(`
    select owner.name, key.api_key_id as id, key.api_key as key
    from (values ('individual', 'individual', null), ('revoked', 'individual', null),
      ('tribal', 'tribal', (select id from access.tribal_access_agreements)),
      ('overlong', 'tribal', (select id from access.tribal_access_agreements))) as owner (name, tier, agreement),
    access.issue_key(tier, owner.name || '@example.gov', '', null, agreement) as key`);
  for (const { name, id } of issued) keys[name] = id;
  await old.client.query("select access.revoke_key($1)", [keys.revoked]);
  // Earlier releases issued such keys.
  await old.client.query(`alter table access.api_keys disable trigger user;
    update access.api_keys set expires_at = '9999-12-31' where id = '${keys.overlong}';
    alter table access.api_keys enable trigger user`);
  await withPublisher({ connectionString: old.url }, compareWithLedger);
  await old.client.query("select set_config('request.api_key_id', $1, false)", [keys.tribal]);
  const { rows } = await old.client.query("select access.issue_access_token($1) as token", [hidden]);
  secrets.push(rows[0].token, ...issued.map(({ key }) => key));
  backup = await dump();
  await restore(fresh, backup);
  service = await startScratchService(fresh.url);
});
afterAll(async () => {
  await service?.stop();
  await fresh?.drop();
});

const ask = async (key: string, target: string) => {
  const issued = await readAll(fresh, "access.api_keys");
  const hash = issued.find(({ id }) => id === keys[key])?.key_sha256.toString("hex");
  return await service.request(target, { headers: { "x-api-key-sha256": hash } });
};

it("the backup contains no rows of a data set, no keys and no tokens", async () => {
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
  "publication.promises",
])("%s has the same rows as before", async (table) => {
  const rows = await readAll(fresh, table);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows).toEqual(await readAll(old, table));
});

it("access.events has every event, and new events get higher IDs", async () => {
  const before = (await readAll(fresh, "access.events")).map(({ id }) => Number(id));
  const inBackup = (await readAll(old, "access.events")).map(({ id }) => Number(id));
  expect(before.slice(0, inBackup.length)).toEqual(inBackup);
  await queryOn(fresh.url, "select access.request_agreement('Other', 'e@example.gov')");
  const last = (await readAll(fresh, "access.events")).at(-1);
  expect(Number(last?.id)).toBeGreaterThan(Math.max(...before));
});

it("a restored key that expires too late gets the latest date allowed, which is recorded", async () => {
  const [key] = await queryOn(
    fresh.url,
    `select expires_at = access.latest_expiry(tier, created_at) as is_bounded
     from access.api_keys where id = '${keys.overlong}'`,
  );
  expect(key).toMatchObject({ is_bounded: true });
  const [event] = await queryOn(
    fresh.url,
    `select before ->> 'expires_at' as before from access.events where subject_id = '${keys.overlong}' order by id desc limit 1`,
  );
  expect(event?.before).toMatch(/^9999-12-31/);
  const others = ["individual", "revoked", "tribal"].map((name) => keys[name]);
  const read = async (database: { url: string }) =>
    (await readAll(database, "access.api_keys")).filter(({ id }) => others.includes(id));
  expect(await read(fresh)).toEqual(await read(old));
});

it("the new database still refuses to delete rows", async () => {
  const removal = queryOn(fresh.url, "delete from access.api_keys");
  await expect(removal).rejects.toThrow("access.api_keys does not allow delete.");
});

it("the ledger gets the suppressions and revocations of a backup that has no entries of the ledger", async () => {
  const other = await createDeployedDatabase();
  onTestFinished(() => other.drop());
  await restore(other, await dump(["access", "publication"]));
  const entries = `select kind || ' ' || subject as entry from ledger.entries
    where kind in ('report suppressed', 'key revoked') order by entry`;
  const rows = await queryOn(other.url, entries);
  expect(rows).toHaveLength(2);
  expect(rows).toEqual(await queryOn(old.url, entries));
});

// PostgREST's 504 is the gateway's 503 (request.refuse).
it("until an operator names the ledger of a restored database, requests get 504 from PostgREST", async () => {
  for (const key of ["individual", "tribal"])
    expect(await ask(key, "/general")).toMatchObject({ status: 504, json: { code: "service_switched_off" } });
});

it("PostgREST keeps its connections while requests are refused", async () => {
  const readConnections = () =>
    queryOn(
      fresh.url,
      "select pid from pg_stat_activity where application_name like 'PostgREST%' order by pid",
    );
  const connections = await readConnections();
  expect(connections).not.toEqual([]);
  for (const key of ["individual", "tribal"]) await ask(key, "/general");
  await sleep(500);
  expect(await readConnections()).toEqual(connections);
});

it("until an operator names the ledger of a restored database, publications are refused", async () => {
  await expect(publish(fresh)).rejects.toThrow("This database was restored, or copied from another server.");
  await withPublisher({ connectionString: fresh.url }, (client) => continueLedger(client, undefined));
});

it("until the data set is published again, valid keys get 504 from PostgREST and revoked ones 401", async () => {
  for (const path of ["/general", `/general?report_id=eq.${report}`])
    expect(await ask("individual", path)).toMatchObject({ status: 504, json: { code: "no_data_set" } });
  expect(await ask("revoked", "/general")).toMatchObject({ status: 401 });
  const rows = await readAll(fresh, "publication.data_sets");
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ state }) => state !== "dropped")).toEqual([]);
});

it("the data set can be published from its source again, although the history already contains it", async () => {
  let isPublished = false;
  const seen = new Set<string>();
  const readOnce = async () => {
    const { status, json } = await ask("individual", `/general?select=auditee_uei&report_id=eq.${report}`);
    seen.add(`${status} ${json.code ?? JSON.stringify(json)}`);
  };
  // The last request is sent after the publication.
  const reader = (async () => {
    for (let isLast = false; !isLast; await readOnce()) isLast = isPublished;
  })();
  expect(await publish(fresh)).toMatchObject({ outcome: "published" });
  isPublished = true;
  await reader;
  expect([...seen]).toEqual(["504 no_data_set", '200 [{"auditee_uei":"UEI1"}]']);
  const read = async (key: string, id: string) => (await ask(key, `/general?report_id=eq.${id}`)).json;
  expect(await read("individual", report)).toMatchObject([{ auditee_uei: "UEI1" }]);
  expect(await read("individual", hidden)).toMatchObject([{ auditee_uei: null }]);
  expect(await read("tribal", hidden)).toMatchObject([{ auditee_uei: "UEI2" }]);
  const states = (await readAll(fresh, "publication.data_sets")).map(({ state }) => state);
  expect(states.filter((state) => state === "live")).toHaveLength(1);
  expect(await readAll(fresh, "publication.changes")).toEqual([]);
});

it("the next deployment, even of the same files, is compared with what clients were promised before", async () => {
  const copy = await makeDirectory();
  await cp(repositoryDirectory, copy, { recursive: true });
  const file = path.join(copy, "api/api_v1_1_0/additional_eins.sql");
  const sql = await readFile(file, "utf8");
  await writeFile(
    file,
    sql.replace(/,\n +additional_eins.additional_ein\b|^comment on column .*additional_ein is[^;]*;/gm, ""),
  );
  const deploy = (directory: string, promises: boolean) =>
    deployDatabase(fresh.url, {}, { directory, promises });
  for (const promises of [true, false])
    await expect(deploy(copy, promises)).rejects.toThrow("additional_eins.additional_ein was removed");
  // The restored database has not been compared yet.
  expect(await deploy(repositoryDirectory, true)).toMatchObject({ apiSchemasChanged: true, changes: [] });
  expect(await deploy(repositoryDirectory, true)).toMatchObject({ apiSchemasChanged: false });
  expect(await readAll(fresh, "publication.promises")).toHaveLength(1);
});

it("a restore into a database that already has keys is refused, and changes nothing", async () => {
  const before = await readAll(fresh, "access.api_keys");
  const message = "This database already has API keys, so it is not newly deployed.";
  await expect(restore(fresh, backup)).rejects.toThrow(message);
  expect(await readAll(fresh, "access.api_keys")).toEqual(before);
});
