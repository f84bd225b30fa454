import { createHash } from "node:crypto";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPublicFiles } from "../../../report-service/public-files.ts";
import { servePublicData } from "../../../report-service/serve-public-data.ts";
import { openPublicStore } from "../../../scripts/refresh/open-public-store.ts";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { settlePublicFiles } from "../../../scripts/refresh/write-public-files.ts";
import { columnNames, tables } from "../../support/columns.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { target } from "../../support/target.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;
const app = fastify();

beforeAll(async () => {
  await database.client.query("set role publisher");
  ({ directory, remove: removeDirectory } = await makeDirectory());
  const secret = { auditee_name: "SECRET", auditee_uei: "SECRETUEI", is_public: "f" };
  await writeCsv(directory, "general", [
    submission(1, { auditee_name: '"A ""B"", C"', auditee_city: '""' }),
    submission(2, secret),
    submission(3, { audit_year: "2022" }),
    submission(4, { ...secret, is_public: "" }),
  ]);
  for (const table of tables.filter((name) => name !== "general")) {
    const rows = [2, 1, 4, 3].map((number) => ({ report_id: id(number), auditee_uei: `U${number}` }));
    await writeCsv(directory, table, rows);
  }
  servePublicData(app, openPublicFiles(path.join(directory, "public")));
  await publish();
});
afterAll(async () => {
  await removeDirectory();
});

const publish = () =>
  refreshDataSet(database.client, {
    from: directory,
    publicData: path.join(directory, "public"),
    force: true,
  });
const get = (name: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") =>
  app.inject({ method, url: `/public-data/${name}`, headers });
const readManifest = async () => (await get("manifest.json")).json();
async function readRows(name: string): Promise<Record<string, string>[]> {
  return parse(gunzipSync((await get(name)).rawPayload), { columns: true });
}

describe("the bulk files", () => {
  it("are one a table, and one a year of general and federal_awards, as the manifest says", async () => {
    const manifest = await readManifest();
    const years = ["general", "federal_awards"].flatMap((table) => [`${table}-2022`, `${table}-2023`]);
    const names = manifest.files.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual([...tables, ...years].map((name) => `${name}.csv.gz`).sort());
    for (const { name, bytes, sha256, rows } of manifest.files) {
      const { rawPayload } = await get(name);
      expect(rawPayload.length).toBe(bytes);
      expect(createHash("sha256").update(rawPayload).digest("hex")).toBe(sha256);
      expect(await readRows(name)).toHaveLength(rows);
    }
    const live = await database.client.query("select id from dissemination.data_set");
    expect(manifest.data_set).toBe(live.rows[0].id);
  });

  it("hold the columns of the API in its order, and its rows in the order of the source", async () => {
    for (const table of tables) {
      const [row] = await readRows(`${table}.csv.gz`);
      expect(Object.keys(row ?? {})).toEqual(columnNames(table));
    }
    expect((await readRows("passthrough.csv.gz")).map(({ report_id }) => report_id)).toEqual([id(1), id(3)]);
    expect((await readRows("federal_awards-2022.csv.gz")).map(({ report_id }) => report_id)).toEqual([id(3)]);
  });

  it("hold nothing of suppressed submissions but report_id and is_public, in general", async () => {
    const manifest = await readManifest();
    for (const { name } of manifest.files) {
      const text = gunzipSync((await get(name)).rawPayload).toString();
      expect(text, name).not.toMatch(/SECRET/);
      const hidden = text.split("\n").filter((line) => line.includes(id(2)) || line.includes(id(4)));
      if (name !== "general.csv.gz") expect(hidden, name).toEqual([]);
      else {
        const filled = (await readRows(name))
          .filter(({ is_public }) => is_public === "f")
          .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== "")));
        expect(filled).toEqual([
          { report_id: id(2), is_public: "f" },
          { report_id: id(4), is_public: "f" },
        ]);
      }
    }
  });

  it("can be read in ranges, and resumed only while they are the same", async () => {
    const whole = await get("general.csv.gz");
    const etag = String(whole.headers.etag);
    const bytes = whole.rawPayload.length;
    const half = await get("general.csv.gz", { range: "bytes=10-19" });
    expect([half.statusCode, half.headers["content-range"], half.headers["content-length"]]).toEqual([
      206,
      `bytes 10-19/${bytes}`,
      "10",
    ]);
    expect(half.rawPayload).toEqual(whole.rawPayload.subarray(10, 20));
    expect((await get("general.csv.gz", { range: "bytes=-5" })).rawPayload).toEqual(
      whole.rawPayload.subarray(-5),
    );
    const resumed = await get("general.csv.gz", { range: "bytes=10-", "if-range": etag });
    expect(resumed.rawPayload).toEqual(whole.rawPayload.subarray(10));
    expect((await get("general.csv.gz", { range: "bytes=10-", "if-range": '"other"' })).statusCode).toBe(200);
    const outside = await get("general.csv.gz", { range: `bytes=${bytes}-` });
    expect([outside.statusCode, outside.headers["content-range"]]).toEqual([416, `bytes */${bytes}`]);
    expect((await get("general.csv.gz", { "if-none-match": etag })).statusCode).toBe(304);
    const head = await get("general.csv.gz", {}, "HEAD");
    expect([head.statusCode, head.headers["content-length"], head.rawPayload.length]).toEqual([
      200,
      String(bytes),
      0,
    ]);
  });

  it.each(["general.csv", "..%2Fgeneral.csv.gz", "%2e%2e%2fmanifest.json", "manifest.json.part"])(
    "are no way to other files: %s",
    async (name) => expect((await get(name)).statusCode).toBe(404),
  );

  it("follow a publication and a rollback", async () => {
    const before = await readManifest();
    await writeCsv(directory, "passthrough", [
      ...[2, 1, 4, 3].map((number) => ({ report_id: id(number), auditee_uei: "NEW" })),
    ]);
    await publish();
    const after = await readManifest();
    expect(after.data_set).not.toBe(before.data_set);
    expect((await readRows("passthrough.csv.gz"))[0]?.auditee_uei).toBe("NEW");
    const store = openPublicStore(path.join(directory, "public"));
    await rollBack(database.client);
    await settlePublicFiles(database.client, store);
    expect(await readManifest()).toMatchObject({ data_set: before.data_set, files: before.files });
  });

  it("are made up for when a data set was published without them", async () => {
    await refreshDataSet(database.client, { from: directory, force: true });
    await refreshDataSet(database.client, { from: directory, publicData: path.join(directory, "public") });
    const { rows } = await database.client.query("select id from dissemination.data_set");
    expect((await readManifest()).data_set).toBe(rows[0].id);
    expect(await readRows("general.csv.gz")).toHaveLength(4);
  });
});

// A deployment serves them where PUBLIC_DATA is set; npm start always does.
describe("the report service", () => {
  it.skipIf(!target.appUrl.includes("127.0.0.1"))("serves them, and HEAD of nothing else", async () => {
    const manifest = await fetch(`${target.appUrl}/public-data/manifest.json`);
    expect(manifest.status).toBe(200);
    const { files } = (await manifest.json()) as { files: { name: string; sha256: string }[] };
    const general = files.find(({ name }) => name === "general.csv.gz");
    const head = await fetch(`${target.appUrl}/public-data/general.csv.gz`, { method: "HEAD" });
    expect([head.status, head.headers.get("etag")]).toEqual([200, `"${general?.sha256}"`]);
    expect((await fetch(`${target.appUrl}/public-data/nothing.csv.gz`)).status).toBe(404);
    expect((await fetch(`${target.appUrl}/healthz`, { method: "HEAD" })).status).toBe(405);
    expect((await fetch(`${target.appUrl}/public-data/general.csv.gz`, { method: "PUT" })).status).toBe(405);
  });
});
