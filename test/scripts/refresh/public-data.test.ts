import { createHash } from "node:crypto";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { parse } from "csv-parse/sync";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPublicFiles } from "../../../site/public-data/public-files.ts";
import { servePublicData } from "../../../site/public-data/serve-public-data.ts";
import { childTables, columnNames, tables } from "../../support/columns.ts";
import { target } from "../../support/target.ts";
import { useRefresh } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

const here = useRefresh();
const app = fastify();
let duckDb: DuckDBInstance;
/** Its text looks like a row of another year. */
const quotedUei = '"UEI,2023,\n""3"';

beforeAll(async () => {
  const secret = { auditee_name: "SECRET", auditee_uei: "SECRETUEI", is_public: "f" };
  await here.write("general", [
    submission(1, { auditee_name: '"A ""B"", C"', auditee_city: '""' }),
    submission(2, secret),
    submission(3, { audit_year: "2022", auditee_uei: quotedUei }),
    submission(4, { ...secret, is_public: "" }),
  ]);
  const rows = [2, 1, 4, 3].map((number) => ({
    report_id: id(number),
    auditee_uei: { 1: "UEI1", 3: quotedUei }[number] ?? secret.auditee_uei,
  }));
  for (const table of childTables) await here.write(table, rows);
  servePublicData(app, openPublicFiles(here.publicData));
  duckDb = await DuckDBInstance.create(":memory:", { threads: "1" });
  expect(await here.publish("--force")).toMatchObject({ code: 0 });
});
afterAll(() => duckDb.closeSync());

const get = (name: string, headers = {}, method: "GET" | "HEAD" | "OPTIONS" = "GET") =>
  app.inject({ method, url: `/public-data/${name}`, headers });
const readManifest = async () => (await get("manifest.json")).json();
async function askDuckDb(sql: (quote: (name: string) => string) => string): Promise<unknown[][]> {
  const live = path.join(here.publicData, await here.liveId());
  const connection = await duckDb.connect();
  const result = await connection.runAndReadAll(sql((name) => `'${live}/${name}'`));
  connection.closeSync();
  return result.getRowsJson();
}
const listNames = async (format: string): Promise<string[]> =>
  (await readManifest()).files.flatMap((file: Record<string, string>) =>
    file.format === format ? file.name : [],
  );
const readText = async (name: string) => gunzipSync((await get(name)).rawPayload).toString();
const readRows = async (name: string): Promise<Record<string, string>[]> =>
  parse(await readText(name), { columns: true });

describe("the bulk files", () => {
  it("exist for each table and for its audit years, and match the manifest", async () => {
    const { files, data_set } = await readManifest();
    const yearly = ["general", "federal_awards"];
    const expected = tables.flatMap((table) => {
      const csv = ["", "-2022", "-2023"].map((year) => `${table}${year}.csv.gz`);
      const parquet = csv.map((name) => name.replace("csv.gz", "parquet"));
      return [...csv, ...(yearly.includes(table) ? parquet : parquet.slice(0, 1))];
    });
    expect(files.map(({ name }: { name: string }) => name).sort()).toEqual(expected.sort());
    for (const { name, bytes, sha256, rows, format } of files) {
      const { rawPayload } = await get(name);
      expect(rawPayload.length).toBe(bytes);
      expect(createHash("sha256").update(rawPayload).digest("hex")).toBe(sha256);
      if (format === "csv") expect(await readRows(name)).toHaveLength(rows);
      else
        expect(await askDuckDb((quote) => `select count(*)::integer from ${quote(name)}`)).toEqual([[rows]]);
    }
    expect(data_set).toBe(await here.liveId());
  });

  it("have the API's columns in its order, and their rows in the order of the source", async () => {
    for (const table of tables)
      expect(Object.keys((await readRows(`${table}.csv.gz`))[0] ?? {})).toEqual(columnNames(table));
    const reports = async (name: string) => (await readRows(name)).map(({ report_id }) => report_id);
    expect(await reports("passthrough.csv.gz")).toEqual([id(1), id(3)]);
    expect(await reports("federal_awards-2022.csv.gz")).toEqual([id(3)]);
    expect(await reports("federal_awards-2023.csv.gz")).toEqual([id(1)]);
  });

  it("have the database's types in Parquet, and the same rows as in CSV", async () => {
    const types = await askDuckDb((quote) => `describe select * from ${quote("general.parquet")}`);
    expect(types.map(([name]) => name)).toEqual(columnNames("general"));
    const some = { report_id: "VARCHAR", is_public: "BOOLEAN", total_amount_expended: "BIGINT" };
    expect(Object.fromEntries(types)).toMatchObject({ ...some, fac_accepted_date: "DATE" });
    const options = "header = true, all_varchar = true, nullstr = '', allow_quoted_nulls = false";
    // COPY writes booleans as t and f.
    const spell = (value: unknown) => ({ true: "t", false: "f" })[String(value)] ?? value;
    for (const name of await listNames("parquet")) {
      const csv = name.replace("parquet", "csv.gz");
      const rows = await askDuckDb((quote) => `select columns(*)::varchar from ${quote(name)}`);
      expect(rows.map((row) => row.map(spell))).toEqual(
        await askDuckDb((quote) => `from read_csv(${quote(csv)}, ${options})`),
      );
    }
  });

  it("each have a Table Schema with titles and descriptions", async () => {
    const described: { name: string; title: string; schema: { fields: Record<string, unknown>[] } }[] = (
      await readManifest()
    ).tables;
    expect(described.map(({ name }) => name).sort()).toEqual(tables);
    for (const { name, title, schema } of described) {
      expect(title).not.toBe("");
      expect(schema.fields.map((field) => field.name)).toEqual(columnNames(name));
      for (const field of schema.fields) {
        expect(field.title).toMatch(/^[^\n]+$/);
        expect(field.description).not.toBe("");
      }
    }
    const [general, awards] = described.map(({ schema }) => schema);
    const isPublic = { name: "is_public", type: "boolean", trueValues: ["t"], falseValues: ["f"] };
    expect(general?.fields).toContainEqual(expect.objectContaining(isPublic));
    expect(general).toMatchObject({ primaryKey: ["report_id"] });
    const required = general?.fields.filter(({ constraints }) => constraints !== undefined);
    expect(required?.map(({ name }) => name)).toEqual(["report_id", "is_public"]);
    const reference = { resource: "general", fields: ["report_id"] };
    expect(awards).toMatchObject({ foreignKeys: [{ fields: ["report_id"], reference }] });
    expect(awards).toMatchObject({ uniqueKeys: [["report_id", "award_reference"]] });
    const amount = { name: "amount_expended", type: "integer" };
    expect(awards?.fields).toContainEqual(expect.objectContaining(amount));
  });

  it("contain nothing of suppressed submissions except report_id and is_public, in general", async () => {
    // The Parquet files are converted from the CSV files, and a test above compares both.
    for (const name of await listNames("csv")) {
      const text = await readText(name);
      expect(text, name).not.toMatch(/SECRET/);
      if (name !== "general.csv.gz") expect(text, name).not.toMatch(new RegExp(`${id(2)}|${id(4)}`));
    }
    const suppressed = (await readRows("general.csv.gz")).filter(({ is_public }) => is_public !== "t");
    expect(suppressed.map((row) => Object.values(row).filter(Boolean))).toEqual([
      [id(2), "f"],
      [id(4), "f"],
    ]);
  });

  it("can be read in ranges, and resumed only while they are unchanged", async () => {
    const { rawPayload: whole, headers } = await get("general.csv.gz");
    const etag = String(headers.etag);
    const [rest, other] = [{ range: "bytes=10-" }, '"other"'];
    const ask = (asked: object) => get("general.csv.gz", asked);
    for (const [asked, status, part] of [
      [{ range: "bytes=10-19" }, 206, whole.subarray(10, 20)],
      [{ range: "bytes=-5" }, 206, whole.subarray(-5)],
      [{ range: "bytes=19-10" }, 200, whole],
      [{ ...rest, "if-range": etag }, 206, whole.subarray(10)],
      [{ ...rest, "if-range": other }, 200, whole],
      [{ ...rest, "if-match": etag }, 206, whole.subarray(10)],
    ] as const)
      expect(await ask(asked)).toMatchObject({ statusCode: status, rawPayload: part });
    expect((await ask({ ...rest, "if-match": other })).statusCode).toBe(412);
    expect((await ask({ range: `bytes=${whole.length}-` })).statusCode).toBe(416);
    expect((await ask({ "if-none-match": etag })).statusCode).toBe(304);
    const ten = (await ask({ range: "bytes=10-19" })).headers;
    expect(ten["content-range"]).toBe(`bytes 10-19/${whole.length}`);
    const head = await get("general.csv.gz", {}, "HEAD");
    expect([head.headers["content-length"], head.body]).toEqual([`${whole.length}`, ""]);
  });

  it("allow requests from other origins, with ranges, and let them read errors", async () => {
    const anyOrigin = { "access-control-allow-origin": "*" };
    const allowed = { ...anyOrigin, "access-control-allow-headers": expect.stringContaining("Range") };
    const asked = await get("general.parquet", {}, "OPTIONS");
    expect(asked).toMatchObject({ statusCode: 204, headers: allowed });
    const type = { "content-type": "application/vnd.apache.parquet" };
    expect((await get("general.parquet")).headers).toMatchObject({ ...anyOrigin, ...type });
    for (const [name, headers, status] of [
      ["none.parquet", {}, 404],
      ["general.parquet", { "if-match": '"other"' }, 412],
      ["general.parquet", { range: "bytes=999999999-" }, 416],
    ] as const)
      expect(await get(name, headers)).toMatchObject({ statusCode: status, headers: anyOrigin });
  });

  it("have the time of their publication, and are not sent again to a client that names it", async () => {
    const { changes, published_at } = await readManifest();
    const format = (time: string) => new Date(time).toUTCString();
    const listed = changes.map((file: Record<string, string>) => [file.name, file.published_at]);
    for (const [name, time] of [
      ["general.csv.gz", published_at],
      ["general.parquet", published_at],
      ...listed,
    ]) {
      for (const method of ["GET", "HEAD"] as const) {
        const { headers } = await get(name, {}, method);
        expect([name, headers["last-modified"]]).toEqual([name, format(time)]);
      }
      const ask = (headers: object) => get(name, { "if-modified-since": format(time), ...headers });
      expect(await ask({})).toMatchObject({ statusCode: 304, headers: { "last-modified": format(time) } });
      expect((await ask({ "if-none-match": '"other"' })).statusCode).toBe(200);
      expect((await ask({ "if-modified-since": format("2100-01-01") })).statusCode).toBe(200);
    }
  });

  it.each(["general.csv", "..%2Fgeneral.csv.gz", "%2e%2e%2fmanifest.json", "manifest.json.part"])(
    "give no access to other files: %s",
    async (name) => expect((await get(name)).statusCode).toBe(404),
  );

  it("follow a publication and a rollback", async () => {
    const before = await readManifest();
    await here.write("passthrough", [{ report_id: id(1), passthrough_name: "NEW" }]);
    await here.publish("--accept-shrink");
    expect((await readManifest()).data_set).not.toBe(before.data_set);
    expect((await readRows("passthrough.csv.gz"))[0]?.passthrough_name).toBe("NEW");
    await here.refresh("--rollback");
    expect(await readManifest()).toMatchObject({ data_set: before.data_set, files: before.files });
  });

  it("are written by the next refresh if a data set was published without them", async () => {
    await here.load();
    await here.publish();
    expect((await readManifest()).data_set).toBe(await here.liveId());
    expect(await readRows("general.csv.gz")).toHaveLength(4);
  });
});

// The paths at which programs download the federal service's CSV files.
const getFederal = (name: string, headers = {}) =>
  app.inject({ url: `/dissemination/public-data/gsa/${name}`, headers });
describe.each([
  ["full/passthrough.csv", "passthrough.csv.gz"],
  ["audit-year/2022-ay-general.csv", "general-2022.csv.gz"],
])("the federal path %s", (address, name) => {
  const ask = (headers = {}) => getFederal(address, headers);

  it.each(["", "identity", "gzip;q=0", "br"])("serves CSV to clients that accept %j", async (encoding) => {
    const { statusCode, body, headers } = await ask({ "accept-encoding": encoding });
    expect([statusCode, body]).toEqual([200, await readText(name)]);
    expect(headers).not.toHaveProperty("content-encoding");
    const disposition = `attachment; filename="${path.basename(address)}"`;
    const plain = { "content-type": "text/csv; charset=utf-8", vary: "Accept-Encoding" };
    expect(headers).toMatchObject({ ...plain, "content-disposition": disposition });
  });

  it("serves the bulk file to clients that accept gzip, including ranges", async () => {
    const { rawPayload: whole, headers } = await get(name);
    const encoding = { "accept-encoding": "br, gzip;q=0.5" };
    const answer = await ask(encoding);
    expect([answer.rawPayload, answer.headers.etag]).toEqual([whole, headers.etag]);
    expect(answer.headers).toMatchObject({ "content-encoding": "gzip" });
    const part = await ask({ ...encoding, range: "bytes=2-5" });
    expect([part.statusCode, part.rawPayload]).toEqual([206, whole.subarray(2, 6)]);
  });

  it("has a different ETag for each encoding", async () => {
    const etag = String((await ask()).headers.etag);
    expect((await ask({ "if-none-match": etag })).statusCode).toBe(304);
    expect((await ask({ "if-none-match": etag, "accept-encoding": "gzip" })).statusCode).toBe(200);
    const ofFile = String((await get(name)).headers.etag);
    expect((await ask({ "if-match": ofFile })).statusCode).toBe(412);
  });
});

it.each([
  ...["full/general", "full/none.csv", "full/general.parquet", "audit-year/2021-ay-general.csv"],
  ...["audit-year/general.csv", "..%2f..%2fmanifest.json"],
])("the federal path %s does not exist", async (name) => {
  const answer = await getFederal(name);
  expect([answer.statusCode, answer.json().code]).toEqual([404, "file_not_found"]);
});

// A deployment serves bulk files only if PUBLIC_DATA is set. npm start always does.
it.skipIf(!target.appUrl.includes("127.0.0.1"))(
  "the report service serves the bulk files, and lists them",
  async () => {
    const manifest = await (await fetch(`${target.appUrl}/public-data/manifest.json`)).json();
    const page = await (await fetch(`${target.appUrl}/files`)).text();
    expect(page).toContain(manifest.data_set);
    for (const { name, rows, sha256 } of manifest.files) {
      const row = page.split("<tr").find((part) => part.includes(`href="/public-data/${name}"`)) ?? "";
      expect(row, name).toMatch(new RegExp(`>${rows.toLocaleString("en-US")}(</td>| <span)`));
      expect(row, name).toContain(sha256);
      const head = await fetch(`${target.appUrl}/public-data/${name}`, { method: "HEAD" });
      expect([head.status, head.headers.get("etag")]).toEqual([200, `"${sha256}"`]);
    }
    for (const [method, path, status] of [
      ["GET", "/public-data/nothing.csv.gz", 404],
      ["PUT", "/public-data/general.csv.gz", 405],
      ["HEAD", "/healthz", 405],
      ["OPTIONS", "/healthz", 405],
    ] as const)
      expect((await fetch(target.appUrl + path, { method })).status, `${method} ${path}`).toBe(status);
  },
);
