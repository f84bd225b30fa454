import path from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPublicFiles } from "../../../report-service/public-files.ts";
import { servePublicData } from "../../../report-service/serve-public-data.ts";
import { openStorage } from "../../../scripts/refresh/open-storage.ts";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { releaseReport } from "../../../scripts/refresh/suppression.ts";
import { settlePublicFiles } from "../../../scripts/refresh/write-public-files.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

// What the bulk files tell of the reports that differ from the data set before.

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;
const app = fastify();

beforeAll(async () => {
  await database.client.query("set role publisher");
  ({ directory, remove: removeDirectory } = await makeDirectory());
  servePublicData(app, openPublicFiles(path.join(directory, "public")));
});
afterAll(() => removeDirectory());

const hidden = { is_public: "f" };

/** Publishes submissions, each with a row in passthrough that says `notes[number]`, if anything. */
async function publish(
  submissions: Record<string, string>[],
  notes: Record<number, string> = {},
  resubmissions: Record<string, string>[] = [],
): Promise<void> {
  await writeCsv(directory, "general", submissions);
  const rows = submissions.map(({ report_id = "" }) => ({
    report_id,
    passthrough_name: notes[Number(report_id.slice(-10))] ?? "",
  }));
  await writeCsv(directory, "passthrough", rows);
  await writeCsv(directory, "resubmission", resubmissions);
  const publicData = path.join(directory, "public");
  await refreshDataSet(database.client, { from: directory, publicData, force: true, acceptShrink: true });
}

const readManifest = async () => (await app.inject("/public-data/manifest.json")).json();

/** The last entry of the manifest, and the reports that its file lists. */
async function readLast() {
  const manifest = await readManifest();
  const entry = manifest.changes.at(-1);
  const { rawPayload } = await app.inject(`/public-data/${entry.name}`);
  expect(rawPayload.length).toBe(entry.bytes);
  const rows: Record<string, string>[] = parse(gunzipSync(rawPayload), { columns: true });
  const list = (change: string) =>
    rows.filter((row) => row.change === change).map(({ report_id }) => Number(report_id?.slice(-10)));
  const lists = { added: list("added"), changed: list("changed"), removed: list("removed") };
  expect([entry.added, entry.changed, entry.removed]).toEqual(
    Object.values(lists).map(({ length }) => length),
  );
  return { manifest, entry, lists };
}

it("nothing, of the first data set", async () => {
  await publish([submission(1), submission(2, hidden), submission(3), submission(4), submission(7)]);
  expect((await readManifest()).changes).toEqual([]);
});

it("which were added, changed in any table and removed; one that became suppressed is removed", async () => {
  const before = await readManifest();
  await releaseReport(database.client, id(2));
  const next = [
    submission(5),
    submission(1),
    submission(2),
    submission(3, hidden),
    submission(4),
    submission(6, hidden),
  ];
  await publish(next, { 3: "SECRET", 4: "Another name", 6: "SECRET" });
  const { manifest, entry, lists } = await readLast();
  expect(lists).toEqual({ added: [2, 5], changed: [4], removed: [3, 7] });
  expect([entry.from, entry.to]).toEqual([before.data_set, manifest.data_set]);
});

it("the same backwards, after a rollback and after it is undone", async () => {
  const store = await openStorage(path.join(directory, "public"));
  const turn = async () => {
    await rollBack(database.client);
    await settlePublicFiles(database.client, store);
    return await readLast();
  };
  await releaseReport(database.client, id(3));
  const back = await turn();
  expect(back.lists).toEqual({ added: [3, 7], changed: [4], removed: [2, 5] });
  expect(back.entry.to).toBe(back.manifest.data_set);
  const again = await turn();
  expect(again.lists).toEqual({ added: [2, 5], changed: [4], removed: [3, 7] });
  expect(again.manifest.changes.map(({ name }: { name: string }) => name)).toEqual(
    [1, 2, 3].map((number) => `changes-${number}.csv.gz`),
  );
});

it("none, when rows stand in another order or only suppressed ones differ", async () => {
  const next = [
    submission(1),
    submission(2),
    submission(3, hidden),
    submission(4),
    submission(5),
    submission(6, hidden),
  ];
  await publish(next, { 3: "ANOTHER", 4: "Another name" });
  expect((await readLast()).lists).toEqual({ added: [], changed: [], removed: [] });
});

it("a superseded report as removed, though it stays in resubmission", async () => {
  await publish(
    [1, 2, 4, 5, 8].map((number) => submission(number)),
    { 4: "Another name" },
    [
      { report_id: id(5), version: "1", status: "deprecated_via_resubmission", next_report_id: id(8) },
      { report_id: id(8), version: "2", status: "most_recent", previous_report_id: id(5) },
    ],
  );
  expect((await readLast()).lists).toEqual({ added: [8], changed: [], removed: [5] });
});

it("what a later publication has not forgotten: each step from one data set to the next", async () => {
  const { changes, data_set } = await readManifest();
  for (const [index, { from }] of changes.entries()) {
    if (index > 0) expect(from).toBe(changes[index - 1].to);
  }
  expect(changes.at(-1).to).toBe(data_set);
  await database.client.query("delete from publication.changes where number <= 2");
  await settlePublicFiles(database.client, await openStorage(path.join(directory, "public")));
  expect((await readManifest()).changes).toEqual(changes.slice(2));
  expect((await app.inject("/public-data/changes-1.csv.gz")).statusCode).toBe(404);
});

it("nobody the fingerprints by which they were found", async () => {
  await database.client.query("set role api_tribal");
  await expect(database.client.query("select from disclosed.fingerprints")).rejects.toThrow(
    "permission denied",
  );
  await database.client.query("reset role");
});
