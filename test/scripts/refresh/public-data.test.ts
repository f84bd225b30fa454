import { createHash } from "node:crypto";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { parse } from "csv-parse/sync";
import { fastify } from "fastify";
import { asyncBufferFromUrl, parquetMetadataAsync } from "hyparquet";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPublicFiles } from "../../../report-service/public-files.ts";
import { servePublicData } from "../../../report-service/serve-public-data.ts";
import { openStorage } from "../../../scripts/refresh/open-storage.ts";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { rollBack } from "../../../scripts/refresh/roll-back.ts";
import { settlePublicFiles } from "../../../scripts/refresh/write-public-files.ts";
import { columnNames, tables } from "../../support/columns.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { query, target } from "../../support/target.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let directory: string;
let removeDirectory: () => Promise<void>;
const app = fastify();
let duckDb: DuckDBInstance;

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
  duckDb = await DuckDBInstance.create(":memory:", { threads: "1" });
  await publish();
});
afterAll(async () => {
  duckDb.closeSync();
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
const live = async () => {
  const { data_set } = await readManifest();
  return path.join(directory, "public", data_set);
};
/** The name of a file for DuckDB, once askDuckDb has put the directory before it. */
const quote = (name: string) => `'{}/${name}'`;
async function askDuckDb(sql: string): Promise<(string | null)[][]> {
  const connection = await duckDb.connect();
  const result = await connection.runAndReadAll(sql.replaceAll("{}", await live()));
  connection.closeSync();
  return result.getRows().map((row) => row.map((value) => (value === null ? null : String(value))));
}
async function readRows(name: string): Promise<Record<string, string>[]> {
  return parse(gunzipSync((await get(name)).rawPayload), { columns: true });
}

describe("the bulk files", () => {
  it("are one for each table, and one for each of its audit years, as the manifest says", async () => {
    const manifest = await readManifest();
    const yearly = (names: readonly string[]) => names.flatMap((name) => [`${name}-2022`, `${name}-2023`]);
    const names = manifest.files.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(
      [
        ...[...tables, ...yearly(tables)].map((name) => `${name}.csv.gz`),
        ...[...tables, ...yearly(["general", "federal_awards"])].map((name) => `${name}.parquet`),
      ].sort(),
    );
    for (const { name, bytes, sha256, rows, format } of manifest.files) {
      const { rawPayload } = await get(name);
      expect(rawPayload.length).toBe(bytes);
      expect(createHash("sha256").update(rawPayload).digest("hex")).toBe(sha256);
      if (format === "csv") expect(await readRows(name)).toHaveLength(rows);
      else expect((await askDuckDb(`select count(*) from ${quote(name)}`))[0]).toEqual([String(rows)]);
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

  it("have in Parquet the types of the database, and the same rows as in CSV", async () => {
    const columns = new Map(
      (await askDuckDb(`describe select * from ${quote("general.parquet")}`)).map(([name, type]) => [
        name,
        type,
      ]),
    );
    expect([...columns.keys()]).toEqual(columnNames("general"));
    expect(
      ["report_id", "is_public", "total_amount_expended", "fac_accepted_date"].map((name) =>
        columns.get(name),
      ),
    ).toEqual(["VARCHAR", "BOOLEAN", "BIGINT", "DATE"]);
    expect(
      (await askDuckDb(`describe select * from ${quote("federal_awards.parquet")}`)).map(([, type]) => type),
    ).toContain("INTEGER");
    const { files } = await readManifest();
    for (const { name: parquet } of files.filter(({ format }: { format: string }) => format === "parquet")) {
      const name = parquet.replace("parquet", "csv.gz");
      const csv = `(from read_csv(${quote(name)}, header = true, all_varchar = true, nullstr = '', allow_quoted_nulls = false))`;
      const written = `(select columns(*)::varchar from ${quote(parquet)})`;
      const [left, right] = [await askDuckDb(`from ${csv}`), await askDuckDb(`from ${written}`)];
      // COPY writes t and f.
      expect(
        right.map((row) => row.map((value) => ({ true: "t", false: "f" })[value ?? ""] ?? value)),
      ).toEqual(left);
    }
  });

  it("are described by a Table Schema each, with the texts of the API", async () => {
    const { tables: described } = await readManifest();
    expect(described.map(({ name }: { name: string }) => name)).toEqual(tables);
    for (const { name, title, schema } of described) {
      expect(title).not.toBe("");
      expect(schema.fields.map((field: { name: string }) => field.name)).toEqual(columnNames(name));
      for (const { description } of schema.fields) expect(description).not.toBe("");
    }
    const [general, awards] = described;
    expect(general.schema.primaryKey).toEqual(["report_id"]);
    expect(general.schema.fields.find((field: { name: string }) => field.name === "is_public")).toMatchObject(
      {
        type: "boolean",
        trueValues: ["t"],
        falseValues: ["f"],
      },
    );
    expect(awards.schema.foreignKeys).toEqual([
      { fields: ["report_id"], reference: { resource: "general", fields: ["report_id"] } },
    ]);
    expect(
      awards.schema.fields.find((field: { name: string }) => field.name === "amount_expended").type,
    ).toBe("integer");
  });

  it("hold nothing of suppressed submissions but report_id and is_public, in general", async () => {
    const manifest = await readManifest();
    for (const { name } of manifest.files) {
      if (name.endsWith(".parquet")) {
        // Made of the CSV file, and compared with it above.
        continue;
      }
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

  it("are read by pages of other hosts, which may ask for a part of the file they have begun", async () => {
    const preflight = await app.inject({ method: "OPTIONS", url: "/public-data/general.parquet" });
    expect([preflight.statusCode, preflight.headers["access-control-allow-origin"]]).toEqual([204, "*"]);
    expect(preflight.headers["access-control-allow-headers"]).toContain("Range");
    const part = { range: "bytes=-8" };
    const { headers, rawPayload } = await get("general.parquet", part);
    expect(headers).toMatchObject({
      "access-control-allow-origin": "*",
      "content-type": "application/vnd.apache.parquet",
    });
    expect(rawPayload.toString("latin1", 4)).toBe("PAR1");
    const same = await get("general.parquet", { ...part, "if-match": String(headers.etag) });
    expect([same.statusCode, same.rawPayload]).toEqual([206, rawPayload]);
    expect((await get("general.parquet", { ...part, "if-match": '"other"' })).statusCode).toBe(412);
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
    const store = await openStorage(path.join(directory, "public"));
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
describe.skipIf(!target.appUrl.includes("127.0.0.1"))("the report service", () => {
  it("serves them, and HEAD of nothing else", async () => {
    const manifest = await fetch(`${target.appUrl}/public-data/manifest.json`);
    expect(manifest.status).toBe(200);
    const { files } = (await manifest.json()) as { files: { name: string; sha256: string }[] };
    const general = files.find(({ name }) => name === "general.csv.gz");
    const head = await fetch(`${target.appUrl}/public-data/general.csv.gz`, { method: "HEAD" });
    expect([head.status, head.headers.get("etag")]).toEqual([200, `"${general?.sha256}"`]);
    expect((await fetch(`${target.appUrl}/public-data/nothing.csv.gz`)).status).toBe(404);
    const ask = async (name: string, method: string) =>
      (await fetch(`${target.appUrl}${name}`, { method })).status;
    expect(await ask("/public-data/general.parquet", "OPTIONS")).toBe(204);
    expect(await ask("/healthz", "HEAD")).toBe(405);
    expect(await ask("/healthz", "OPTIONS")).toBe(405);
    expect(await ask("/public-data/general.csv.gz", "PUT")).toBe(405);
  });

  it("lists them on a page, with rows, checksum and commands that name this app", async () => {
    const page = await (await fetch(`${target.appUrl}/files`)).text();
    const manifest = await (await fetch(`${target.appUrl}/public-data/manifest.json`)).json();
    expect(page).toContain(manifest.data_set);
    for (const { name, rows, sha256 } of manifest.files) {
      const row = page.split("<tr").find((part) => part.includes(`href="/public-data/${name}"`)) ?? "";
      expect(row, name).toContain(`>${rows.toLocaleString("en-US")}</td>`);
      expect(row, name).toContain(sha256);
    }
    expect(page).toContain(`${target.appUrl}/public-data/general.parquet`);
  });

  it("lets a column be found without the rest of the file", async () => {
    const url = `${target.appUrl}/public-data/federal_awards.parquet`;
    const requests: string[] = [];
    const fetchPart = async (...[address, init]: Parameters<typeof fetch>) => {
      requests.push(new Headers(init?.headers).get("range") ?? init?.method ?? "GET");
      return await fetch(address, init);
    };
    const file = await asyncBufferFromUrl({ url, fetch: fetchPart });
    const metadata = await parquetMetadataAsync(file, { initialFetchSize: 1 << 16 });
    expect(requests).toEqual(["HEAD", `bytes=${file.byteLength - (1 << 16)}-${file.byteLength - 1}`]);
    const [held] = await query<{ rows: number }>(
      "select count(*)::integer as rows from disclosed.federal_awards",
    );
    expect(Number(metadata.num_rows)).toBe(held?.rows);
    const prefixes = metadata.row_groups.flatMap(({ columns }) =>
      columns.filter(({ meta_data }) => meta_data?.path_in_schema[0] === "federal_agency_prefix"),
    );
    const bytes = prefixes.reduce((sum, { meta_data }) => sum + Number(meta_data?.total_compressed_size), 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(file.byteLength / 4);
  });
});
