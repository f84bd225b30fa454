import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { withPublisher } from "../../../scripts/refresh/connect-publisher.ts";
import { beginLedger, compareWithLedger, continueLedger } from "../../../scripts/refresh/ledger.ts";
import { connect } from "../../../shared/connect.ts";
import { makeDirectory } from "../../support/make-directory.ts";
import { startS3Server } from "../../support/s3-server.ts";
import { createScratchDatabase, type ScratchDatabase, useCopies } from "../../support/scratch-database.ts";
import { useRefresh, withDefinitions } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

const here = useRefresh();
const { list, select } = here;

const on = (url: string) => ({ connectionString: url });
const compare = (url = here.database.url) => withPublisher(on(url), (client) => compareWithLedger(client));
const readPlace = async () => String((await list("select place from ledger.claim"))[0]);
const isOn = async () => (await list("select publication.is_switched_on()"))[0];
const count = async () => (await readdir(await readPlace())).length;
const readLedger = async () => {
  const place = await readPlace();
  const texts = await Promise.all(
    (await readdir(place)).sort().map((name) => readFile(path.join(place, name), "utf8")),
  );
  return texts.flatMap((text) => text.trimEnd().split("\n").slice(1)).map((line) => JSON.parse(line));
};
const say = async () => (await readLedger()).map(({ kind, subject }) => `${kind} ${subject}`);

/** Publishes two reports, of which these are suppressed. */
async function publish(...suppressed: number[]) {
  const rows = [1, 2].map((one) => submission(one, suppressed.includes(one) ? { is_public: "f" } : {}));
  await here.write("general", rows);
  return await here.publish("--accept-shrink", "--force");
}
async function issueKey(): Promise<string> {
  const [key] = await list("select api_key_id from access.issue_key('individual', 'a@example.gov', '')");
  return String(key);
}
const publicReports = () => list("select right(report_id, 1)::int from disclosed.general order by 1");

/** A copy of the database as it is now: what a restore of a backup from this moment gives. */
async function copyNow(): Promise<ScratchDatabase> {
  const name = new URL(here.database.url).pathname.slice(1);
  await here.database.client.end();
  const copy = await createScratchDatabase(name);
  here.database.client = await connect(here.database.url, "test");
  onTestFinished(() => copy.drop());
  return copy;
}
const ask = async (database: ScratchDatabase, sql: string) =>
  await withPublisher(on(database.url), async (client) => {
    await client.query("reset role");
    return (await client.query({ text: sql, rowMode: "array" })).rows.flat();
  });

useCopies(here.database, async () => {
  expect((await publish()).code).toBe(0);
});

it("the ledger gets a suppression before it takes effect, and a release or revocation afterwards", async () => {
  const key = await issueKey();
  expect((await publish(2)).code).toBe(0);
  expect(await say()).toEqual([`report suppressed ${id(2)}`]);
  const [{ recorded_by }] = await readLedger();
  expect(recorded_by).toBe(`data set ${await here.liveId()}`);
  await here.refresh("--release", id(2), "--operator", "Ada");
  await select("select access.revoke_key($1)", [key]);
  const [hash] = await list(`select encode(key_sha256, 'hex') from access.api_keys where id = '${key}'`);
  await compare();
  expect((await say()).slice(1)).toEqual([`report released ${id(2)}`, `key revoked ${hash}`]);
  expect((await readLedger()).map((entry) => entry.recorded_by).slice(1, 2)).toEqual(["Ada"]);
  // What is written once is not written again.
  const objects = await count();
  await compare();
  expect(await count()).toBe(objects);
});

it("two refreshers write each entry once, even if one is lost after it has written an object", async () => {
  const keys = [];
  for (let number = 0; number < 20; number += 1) keys.push(await issueKey());
  const revoke = (some: string[]) =>
    select("select access.revoke_key(id) from unnest($1::uuid[]) as id", [some]);
  await revoke(keys.slice(0, 1));
  const lost = withPublisher(on(here.database.url), (client) => {
    const query = client.query.bind(client) as (...values: unknown[]) => unknown;
    Object.assign(client, {
      query: (...values: unknown[]) => {
        if (String(values[0]).startsWith("update ledger.entries")) throw new Error("The node is lost.");
        return query(...values);
      },
    });
    return compareWithLedger(client);
  });
  await expect(lost).rejects.toThrow("The node is lost.");
  for (const key of keys.slice(1)) await Promise.all([revoke([key]), compare(), compare()]);
  await compare();
  expect(await list("select lost_at from ledger.claim")).toEqual([null]);
  expect(await isOn()).toBe(true);
  expect((await say()).length).toBe(keys.length);
  expect(new Set(await say()).size).toBe(keys.length);
});

it("a suppression counts even if its publication fails", async () => {
  const leak = { "publish.sql": (sql: string) => `${sql}\nselect 1 / 0;` };
  expect((await withDefinitions(leak, () => publish(2))).code).toBe(1);
  expect(await publicReports()).toEqual([1, 2]);
  expect(await say()).toEqual([`report suppressed ${id(2)}`]);
  expect((await publish()).output).toContain(
    `1 report stays suppressed, although the source files mark it as public: ${id(2)}`,
  );
  expect(await publicReports()).toEqual([1]);
});

it("the live files are published again if a publication that failed has suppressed one of their reports", async () => {
  const fail = { "publish.sql": (sql: string) => `${sql}\nselect 1 / 0;` };
  expect((await withDefinitions(fail, () => publish(2))).code).toBe(1);
  await here.write("general", [submission(1), submission(2)]);
  expect(await here.publish("--accept-shrink")).toMatchObject({ code: 0 });
  expect(await publicReports()).toEqual([1]);
});

it("files that a check rejects suppress nothing", async () => {
  await here.write("general", [submission(1, { is_public: "f" }), submission(2, { is_public: "f" })]);
  expect(await here.publish("--force")).toMatchObject({ code: 1 });
  expect(await say()).toEqual([]);
});

it("a database restored to before a suppression and a revocation answers no requests until it has read both and has been refreshed", async () => {
  const key = await issueKey();
  const restored = await copyNow();
  await publish(2);
  await select("select access.revoke_key($1)", [key]);
  await compare();
  const read = (sql: string) => ask(restored, sql);
  expect(await read("select publication.is_switched_on()")).toEqual([false]);
  const refused =
    "This database was restored, or copied from another server. If this database replaces the original, run npm run refresh -- --continue-ledger";
  await expect(compare(restored.url)).rejects.toThrow(refused);
  expect(await withPublisher(on(restored.url), (client) => continueLedger(client, undefined))).toEqual({
    withdrawn: true,
  });
  expect(await read("select count(*)::int from publication.suppressed_reports")).toEqual([1]);
  expect(await read(`select status from access.key_overview where id = '${key}'`)).toEqual(["revoked"]);
  expect(await read("select publication.live_data_set()")).toEqual([null]);
  // The original database reads what the restored one writes, but publishes nothing.
  const other = "update access.api_keys set revoked_at = now() where key_prefix = 'DEMO_KEY'";
  await ask(restored, other);
  await compare(restored.url);
  for (const _ of [1, 2]) await expect(compare()).rejects.toThrow("Another database writes to the ledger");
  expect((await publish()).output).toContain("Another database writes to the ledger");
  expect(await isOn()).toBe(true);
  expect(await list("select status from access.key_overview where key_prefix = 'DEMO_KEY'")).toEqual([
    "revoked",
  ]);
});

it("a report that was released later stays public in a restored database", async () => {
  const restored = await copyNow();
  await publish(2);
  await here.refresh("--release", id(2));
  await compare();
  expect(await withPublisher(on(restored.url), (client) => continueLedger(client, undefined))).toEqual({
    withdrawn: false,
  });
  expect(
    await ask(restored, "select publication.is_switched_on(), publication.live_data_set() is not null"),
  ).toEqual([true, true]);
});

it("a suppression in the ledger overrides a release that the ledger does not have", async () => {
  await publish(2);
  await here.refresh("--release", id(2));
  const restored = await copyNow();
  await select("delete from ledger.entries where object_number is null");
  await publish(2);
  await select("delete from ledger.entries where kind = 'report suppressed' and object_number is null");
  // The original suppresses it again, in the ledger's next object.
  await select(
    "insert into ledger.entries (kind, subject, takes_effect_at, recorded_by) values ('report suppressed', $1, now(), 'test')",
    [id(2)],
  );
  await compare();
  await withPublisher(on(restored.url), (client) => continueLedger(client, undefined));
  expect(await ask(restored, "select report_id from publication.suppressed_reports")).toEqual([id(2)]);
});

it("a report cannot be released while a publication is running, so the ledger has each suppression that is live", async () => {
  await publish(2);
  const stop = { "publish.sql": (sql: string) => `${sql}\nselect pg_advisory_xact_lock(58);` };
  await select("select pg_advisory_lock(58)");
  const publishing = withDefinitions(stop, () => publish(2));
  await expect.poll(() => list("select pid from pg_locks where objid = 58 and not granted")).toHaveLength(1);
  const released = await here.refresh("--release", id(2));
  const bySql = here.asPublisher(() => select("select publication.release_report($1)", [id(2)]));
  await expect(bySql).rejects.toThrow(
    `The report ${id(2)} cannot be released while a refresh or a rollback is running or bulk files are being written.`,
  );
  await select("select pg_advisory_unlock(58)");
  expect(await publishing).toMatchObject({ code: 0 });
  expect(released).toEqual({
    code: 3,
    output: expect.stringMatching(/A refresh, .* is running: .*\. Try again when it has ended/),
  });
  expect(await list("select report_id from publication.suppressed_reports")).toEqual([id(2)]);
  expect(await here.refresh("--release", id(2))).toMatchObject({ code: 0 });
});

it("a report that the ledger suppresses during a publication is withdrawn when it goes live", async () => {
  const wait = { "go_live.sql": (sql: string) => `${sql}\nselect pg_sleep(3);` };
  await here.write("general", [submission(1), submission(2), submission(3)]);
  const publishing = withDefinitions(wait, () => here.publish("--accept-growth", "--force"));
  await expect
    .poll(() => list("select pid from pg_stat_activity where wait_event = 'PgSleep'"))
    .toHaveLength(1);
  const [{ ledger_id: ledger, next }] = await select(
    "select ledger_id, lpad((last_object + 1)::text, 12, '0') as next from ledger.claim",
  );
  const header = JSON.stringify({ ledger, writer: "another database", entries: 1 });
  const line = JSON.stringify({ ...entry, kind: "report suppressed", subject: id(3) });
  await writeFile(path.join(await readPlace(), `${next}.jsonl`), `${header}\n${line}\n`);
  await expect(compare()).rejects.toThrow("Another database writes to the ledger");
  expect(await publishing).toMatchObject({ code: 0 });
  expect(await list("select publication.live_data_set()")).toEqual([null]);
});

it("a release in the ledger is learned when the running refresh has ended", async () => {
  const [before] = await select("select last_object from ledger.claim");
  await publish(2);
  await here.refresh("--release", id(2));
  await compare();
  await select("delete from ledger.entries");
  await select("update ledger.claim set last_object = $1, server_started_at = '2000-01-01'", [
    before.last_object,
  ]);
  await select("select pg_advisory_lock(hashtext('publication'))");
  await expect(compare()).rejects.toThrow("Try again later");
  expect(await isOn()).toBe(false);
  await select("select pg_advisory_unlock(hashtext('publication'))");
  await compare();
  expect(await isOn()).toBe(true);
  expect(await list("select report_id from publication.suppressed_reports")).toEqual([]);
});

it("a copy that gets its own ledger first reads the original's ledger, and is then independent", async () => {
  const copy = await copyNow();
  await publish(2);
  const place = await makeDirectory();
  await withPublisher(on(copy.url), (client) => beginLedger(client, place));
  expect(await ask(copy, "select publication.is_switched_on()")).toEqual([true]);
  expect(await ask(copy, "select report_id from publication.suppressed_reports")).toEqual([id(2)]);
  await compare();
  expect(await isOn()).toBe(true);
});

it("a database that lost its last commits on the same server reads them from the ledger", async () => {
  const [before] = await select("select last_object from ledger.claim");
  await publish(2);
  await select("delete from publication.suppressed_reports; delete from ledger.entries");
  await select("update ledger.claim set last_object = $1, server_started_at = '2000-01-01'", [
    before.last_object,
  ]);
  await select("update disclosed.general set report_id = $1 where report_id = $2", [id(2), id(1)]);
  expect(await isOn()).toBe(false);
  await compare();
  expect(await isOn()).toBe(true);
  expect(await list("select report_id from publication.suppressed_reports")).toEqual([id(2)]);
  expect(await list("select publication.live_data_set()")).toEqual([null]);
});

it("an object that was written just before a crash is not written twice", async () => {
  const objects = await count();
  const key = await issueKey();
  await select("select access.revoke_key($1)", [key]);
  await compare();
  await select(
    "update ledger.entries set object_number = null; update ledger.claim set last_object = last_object - 1",
  );
  await compare();
  expect(await count()).toBe(objects + 1);
  expect(
    await list("select count(object_number)::int as written, count(*)::int as all from ledger.entries"),
  ).toEqual([1, 1]);
});

it("while the ledger is unreachable, requests are answered and keys are revoked, but nothing is published", async () => {
  const place = await readPlace();
  const key = await issueKey();
  await rename(place, `${place}-away`);
  await select("select access.revoke_key($1)", [key]);
  for (const args of [["--from", here.directory, "--force"], ["--rollback"]]) {
    const { code, output } = await here.refresh(...args);
    expect(code).toBe(1);
    expect(output).toContain(place);
  }
  expect(await isOn()).toBe(true);
  await rename(`${place}-away`, place);
  await compare();
  expect(await say()).toHaveLength(1);
});

it("a publication and a rollback name an older object that is missing", async () => {
  const place = await readPlace();
  for (const _ of [1, 2]) {
    await select("select access.revoke_key($1)", [await issueKey()]);
    await compare();
  }
  await rm(path.join(place, "000000000002.jsonl"));
  for (const args of [["--from", here.directory, "--force"], ["--rollback"]])
    expect(await here.refresh(...args)).toMatchObject({
      code: 1,
      output: expect.stringContaining(
        `The ledger in ${place} lacks the object 000000000002.jsonl. Restore it.`,
      ),
    });
});

it("a comparison and --continue-ledger name a missing object", async () => {
  const place = await readPlace();
  for (const _ of [1, 2]) {
    await select("select access.revoke_key($1)", [await issueKey()]);
    await compare();
  }
  await rm(path.join(place, "000000000003.jsonl"));
  const message = `The ledger in ${place} lacks the object 000000000003.jsonl. Restore it.`;
  await expect(compare()).rejects.toThrow(message);
  await writeFile(path.join(place, "000000000004.jsonl"), "{}\n");
  expect(await here.refresh("--continue-ledger")).toMatchObject({
    code: 1,
    output: expect.stringContaining(message),
  });
});

const entry = { subject: "a", takes_effect_at: "2026-01-01", recorded_at: "2026-01-01", recorded_by: "b" };
const suppressed = JSON.stringify({ ...entry, kind: "report suppressed", subject: id(1) });
const withLine = (line: object) => (header: string) =>
  `${header.replace('"entries":1', '"entries":2')}\n${suppressed}\n${JSON.stringify({ ...entry, ...line })}\n`;
it.each<[string, (header: string) => string]>([
  ["is empty", () => ""],
  ["has no header", () => suppressed],
  ["was cut off within a line", (header) => `${header}\n${suppressed.slice(0, -9)}`],
  ["was cut off between lines", (header) => `${header}\n`],
  ["has one line more", (header) => `${header}\n${suppressed}\n${suppressed}\n`],
  ["has a line of null", (header) => `${header}\nnull\n`],
  ["has an unknown kind", withLine({ kind: "report renamed" })],
  ["has a wrong date", withLine({ kind: "key expires", takes_effect_at: "2026-02-30" })],
  ["has a wrong hash", withLine({ kind: "key revoked", subject: "xyz" })],
  ["has a wrong agreement", withLine({ kind: "agreement revoked", subject: "xyz" })],
  ["lacks a subject", withLine({ kind: "report suppressed", subject: undefined })],
])("an object that %s is named, and nothing of it is learned", async (_what, damage) => {
  const file = path.join(await readPlace(), "000000000002.jsonl");
  await select("select access.revoke_key($1)", [await issueKey()]);
  await compare();
  const [header = ""] = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, damage(header));
  await select("truncate ledger.entries; update ledger.claim set last_object = 1");
  await expect(compare()).rejects.toThrow(`${file} is damaged`);
  expect((await here.refresh("--continue-ledger")).output).toContain(`${file} is damaged`);
  expect(await list("select report_id from publication.suppressed_reports")).toEqual([]);
  expect(await list("select last_object::int from ledger.claim")).toEqual([1]);
});

it("thousands of entries are learned without reading the table for each", async () => {
  const entries = Array.from({ length: 200 }, (_, index) => ({
    ...entry,
    kind: "report suppressed",
    subject: id(1000 + index),
  }));
  await select("begin");
  await select("select ledger.apply(2, $1, true)", [JSON.stringify(entries)]);
  expect(
    await list("select seq_scan::int from pg_stat_xact_user_tables where relid = 'ledger.entries'::regclass"),
  ).toEqual([0]);
  await select("rollback");
});

it("only the refresher's user can read the ledger", async () => {
  const place = await readPlace();
  for (const name of await readdir(place))
    expect((await stat(path.join(place, name))).mode & 0o777).toBe(0o600);
});

it("of two servers with the same files, one stops publishing, and takes no release from the other", async () => {
  await publish(2);
  const copy = await copyNow();
  // A copy of the server's files has its system identifier.
  await ask(
    copy,
    "update ledger.claim set server = ledger.describe_server(), database_name = current_database()",
  );
  await compare(copy.url);
  const key = await issueKey();
  await ask(copy, `select publication.release_report('${id(2)}')`);
  await ask(copy, `insert into publication.suppressed_reports values ('${id(1)}')`);
  await compare(copy.url);
  await select("select access.revoke_key($1)", [key]);
  await expect(compare()).rejects.toThrow("Another database writes to the ledger");
  expect(await list("select report_id from publication.suppressed_reports order by 1")).toEqual([
    id(1),
    id(2),
  ]);
  expect((await publish()).output).toContain("Another database writes to the ledger");
  expect(await here.refresh("--continue-ledger")).toMatchObject({ code: 0 });
  await expect(compare(copy.url)).rejects.toThrow("Another database writes to the ledger");
});

it("a backup that is restored into the same database is off until it was compared", async () => {
  await select("create table backup as select * from ledger.claim");
  await publish(2);
  expect(await isOn()).toBe(true);
  // As psql restores rows.
  await select("delete from publication.suppressed_reports; truncate ledger.claim, ledger.entries");
  await select("insert into ledger.claim select * from backup");
  await select("update disclosed.general set report_id = $1 where report_id = $2", [id(2), id(1)]);
  expect(await isOn()).toBe(false);
  await compare();
  expect(await isOn()).toBe(true);
  expect(await list("select publication.live_data_set()")).toEqual([null]);
});

it("a restore that was not finished is named", async () => {
  await select(
    "alter table ledger.claim disable trigger user; update ledger.claim set server_started_at = null",
  );
  await expect(compare()).rejects.toThrow(
    "The triggers of ledger.claim are disabled. Run deploy/after-restore.sql.",
  );
  await select("alter table ledger.claim enable trigger user; truncate ledger.claim");
  await expect(compare()).rejects.toThrow("ledger.claim has no row");
  expect((await here.refresh("--continue-ledger")).output).toContain("ledger.claim has no row");
  expect(await isOn()).not.toBe(true);
});

it("an agreement that was approved again before its revocation was learned is revoked", async () => {
  const approve = `select access.decide_agreement(id, 'approved', 'Ada', 'Agency', 'ada@example.gov', null, '2099-01-01')
    from access.tribal_access_agreements`;
  await select("select access.request_agreement('Test Nation', 'c@example.gov')");
  await select(approve);
  const restored = await copyNow();
  await select("select access.revoke_agreement(id) from access.tribal_access_agreements");
  await compare();
  await ask(restored, approve.replace("2099", "2098"));
  await withPublisher(on(restored.url), (client) => continueLedger(client, undefined));
  expect(await ask(restored, "select status from access.agreement_status")).toEqual(["revoked"]);
});

it("--new-ledger needs an empty place, and --continue-ledger an existing ledger", async () => {
  const place = await readPlace();
  const empty = await makeDirectory();
  expect((await here.refresh("--new-ledger", place)).output).toContain(
    `There is already a ledger in ${place}.`,
  );
  expect((await here.refresh("--continue-ledger", empty)).output).toContain(
    `There is no ledger in ${empty}.`,
  );
  expect((await here.refresh("--new-ledger", empty)).code).toBe(0);
  expect((await here.refresh("--continue-ledger", place)).output).toContain("belongs to another database.");
});

it("a database that lost everything reads its suppressions from the ledger", async () => {
  await publish(2);
  const place = await readPlace();
  await select(
    "delete from publication.suppressed_reports; truncate ledger.entries, ledger.claim; insert into ledger.claim default values",
  );
  expect((await publish()).output).toContain("This database has no ledger.");
  expect(await here.refresh("--continue-ledger", place)).toMatchObject({ code: 0 });
  expect((await publish()).code).toBe(0);
  expect(await publicReports()).toEqual([1]);
});

/** Provides a bucket for ledgers. */
async function useBucket() {
  const keys = { accessKeyId: "AKIDTEST", secretAccessKey: "secret" };
  const s3 = await startS3Server({ bucket: "data", ...keys });
  onTestFinished(() => s3.close());
  const storage = {
    region: "us-gov-west-1",
    endpoint: `http://127.0.0.1:${s3.port}`,
    forcePathStyle: true,
    ledgerCredentials: keys,
  };
  const withStorage = (work: typeof compareWithLedger) =>
    withPublisher(on(here.database.url), (client) => work(client, storage));
  return {
    s3,
    begin: (place: string) => withStorage((client) => beginLedger(client, place, storage).then(() => {})),
    compareWithBucket: () => withStorage(compareWithLedger),
  };
}

it("a bucket must support conditional writes", async () => {
  const { s3, begin, compareWithBucket } = await useBucket();
  s3.hasConditionalWrites = false;
  await expect(begin("s3://data/one")).rejects.toThrow("does not support conditional writes (If-None-Match)");
  s3.hasConditionalWrites = true;
  await begin("s3://data/two");
  await select("select access.revoke_key($1)", [await issueKey()]);
  await compareWithBucket();
  expect([...s3.objects.keys()].filter((key) => key.startsWith("two/"))).toEqual([
    "two/000000000001.jsonl",
    "two/000000000002.jsonl",
  ]);
});

it("if the ledger can only be read, a message says so, and PostgreSQL may restart", async () => {
  const { s3, begin, compareWithBucket } = await useBucket();
  const refused =
    "s3://data/ledger/000000000002.jsonl cannot be written: AccessDenied. Let the refresher read and write there (docs/operations.md, The ledger).";
  await begin("s3://data/ledger");
  s3.isReadOnly = true;
  await select("select access.revoke_key($1)", [await issueKey()]);
  await expect(compareWithBucket()).rejects.toThrow(refused);
  await select("update ledger.claim set server_started_at = '2000-01-01'");
  expect(await isOn()).toBe(false);
  await expect(compareWithBucket()).rejects.toThrow(refused);
  expect(await isOn()).toBe(true);
  s3.isReadOnly = false;
  await compareWithBucket();
  expect(s3.objects.has("ledger/000000000002.jsonl")).toBe(true);
});
