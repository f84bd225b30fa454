import { createHash } from "node:crypto";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { parse } from "csv-parse/sync";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPublicFiles } from "../../../report-service/public-files.ts";
import { servePublicData } from "../../../report-service/serve-public-data.ts";
import { columnNames, tables } from "../../support/columns.ts";
import { target } from "../../support/target.ts";
import { useRefresh } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

const here = useRefresh();
const app = fastify();
let duckDb: DuckDBInstance;

beforeAll(async () => {
  const secret = { auditee_name: "SECRET", auditee_uei: "SECRETUEI", is_public: "f" };
  await here.write("general", [
    submission(1, { auditee_name: '"A ""B"", C"', auditee_city: '""' }),
    submission(2, secret),
    submission(3, { audit_year: "2022" }),
    submission(4, { ...secret, is_public: "" }),
  ]);
  for (const table of tables.filter((name) => name !== "general"))
    await here.write(
      table,
      [2, 1, 4, 3].map((number) => ({ report_id: id(number), auditee_uei: `U${number}` })),
    );
  servePublicData(app, openPublicFiles(here.publicData));
  duckDb = await DuckDBInstance.create(":memory:", { threads: "1" });
  await publish();
});
afterAll(() => duckDb.closeSync());

const publish = async () =>
  expect(await here.refresh("--from", here.directory, "--force")).toMatchObject({ code: 0 });
const get = (
  name: string,
  headers: Record<string, string> = {},
  method: "GET" | "HEAD" | "OPTIONS" = "GET",
) => app.inject({ method, url: `/public-data/${name}`, headers });
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
  it("are one for each table, and one for each of its audit years, as the manifest says", async () => {
    const { files, data_set } = await readManifest();
    const yearly = ["general", "federal_awards"];
    const list = (names: readonly string[], ending: string) =>
      names.flatMap((name) => ["", "-2022", "-2023"].map((year) => `${name}${year}.${ending}`));
    expect(files.map(({ name }: { name: string }) => name).sort()).toEqual(
      [
        ...list(tables, "csv.gz"),
        ...list(yearly, "parquet"),
        ...tables.filter((name) => !yearly.includes(name)).map((name) => `${name}.parquet`),
      ].sort(),
    );
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

  it("hold the columns of the API in its order, and its rows in the order of the source", async () => {
    for (const table of tables)
      expect(Object.keys((await readRows(`${table}.csv.gz`))[0] ?? {})).toEqual(columnNames(table));
    const reports = async (name: string) => (await readRows(name)).map(({ report_id }) => report_id);
    expect(await reports("passthrough.csv.gz")).toEqual([id(1), id(3)]);
    expect(await reports("federal_awards-2022.csv.gz")).toEqual([id(3)]);
  });

  it("have in Parquet the types of the database, and the same rows as in CSV", async () => {
    const types = await askDuckDb((quote) => `describe select * from ${quote("general.parquet")}`);
    expect(types.map(([name]) => name)).toEqual(columnNames("general"));
    const some = { report_id: "VARCHAR", is_public: "BOOLEAN", total_amount_expended: "BIGINT" };
    expect(Object.fromEntries(types)).toMatchObject({ ...some, fac_accepted_date: "DATE" });
    const options = "header = true, all_varchar = true, nullstr = '', allow_quoted_nulls = false";
    // COPY writes t and f.
    const spell = (value: unknown) => ({ true: "t", false: "f" })[String(value)] ?? value;
    for (const name of await listNames("parquet")) {
      const csv = name.replace("parquet", "csv.gz");
      const rows = await askDuckDb((quote) => `select columns(*)::varchar from ${quote(name)}`);
      expect(rows.map((row) => row.map(spell))).toEqual(
        await askDuckDb((quote) => `from read_csv(${quote(csv)}, ${options})`),
      );
    }
  });

  it("are described by a Table Schema each, with the labels and texts of the API", async () => {
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
    const reference = { resource: "general", fields: ["report_id"] };
    expect(awards).toMatchObject({ foreignKeys: [{ fields: ["report_id"], reference }] });
    const amount = { name: "amount_expended", type: "integer" };
    expect(awards?.fields).toContainEqual(expect.objectContaining(amount));
  });

  it("hold nothing of suppressed submissions but report_id and is_public, in general", async () => {
    // Parquet is made of the CSV file, and compared with it above.
    for (const name of await listNames("csv")) {
      const text = await readText(name);
      expect(text, name).not.toMatch(/SECRET/);
      if (name !== "general.csv.gz") expect(text, name).not.toMatch(new RegExp(`${id(2)}|${id(4)}`));
    }
    const suppressed = (await readRows("general.csv.gz")).filter(({ is_public }) => is_public !== "t");
    const filled = suppressed.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value)),
    );
    expect(filled).toEqual([2, 4].map((number) => ({ report_id: id(number), is_public: "f" })));
  });

  it("can be read in ranges, and resumed only while they are the same", async () => {
    const { rawPayload: whole, headers } = await get("general.csv.gz");
    const etag = String(headers.etag);
    const [rest, other] = [{ range: "bytes=10-" }, '"other"'];
    for (const [asked, status, part] of [
      [{ range: "bytes=10-19" }, 206, whole.subarray(10, 20)],
      [{ range: "bytes=-5" }, 206, whole.subarray(-5)],
      [{ ...rest, "if-range": etag }, 206, whole.subarray(10)],
      [{ ...rest, "if-range": other }, 200, whole],
      [{ ...rest, "if-match": etag }, 206, whole.subarray(10)],
      [{ ...rest, "if-match": other }, 412],
      [{ range: `bytes=${whole.length}-` }, 416],
      [{ "if-none-match": etag }, 304],
    ] as [Record<string, string>, number, Buffer?][]) {
      const answer = await get("general.csv.gz", asked);
      expect(answer.statusCode).toBe(status);
      if (part !== undefined) expect(answer.rawPayload).toEqual(part);
    }
    const ten = await get("general.csv.gz", { range: "bytes=10-19" });
    expect(ten.headers).toMatchObject({ "content-range": `bytes 10-19/${whole.length}` });
    const head = await get("general.csv.gz", {}, "HEAD");
    expect([head.headers["content-length"], head.body]).toEqual([`${whole.length}`, ""]);
  });

  it("are read by pages of other hosts", async () => {
    const { statusCode, headers } = await get("general.parquet", {}, "OPTIONS");
    expect([statusCode, headers["access-control-allow-origin"]]).toEqual([204, "*"]);
    expect(headers["access-control-allow-headers"]).toContain("Range");
    expect((await get("general.parquet")).headers).toMatchObject({
      "access-control-allow-origin": "*",
      "content-type": "application/vnd.apache.parquet",
    });
  });

  it.each(["general.csv", "..%2Fgeneral.csv.gz", "%2e%2e%2fmanifest.json", "manifest.json.part"])(
    "are no way to other files: %s",
    async (name) => expect((await get(name)).statusCode).toBe(404),
  );

  it("follow a publication and a rollback", async () => {
    const before = await readManifest();
    await here.write("passthrough", [{ report_id: id(1), auditee_uei: "NEW" }]);
    await here.refresh("--from", here.directory, "--accept-shrink");
    expect((await readManifest()).data_set).not.toBe(before.data_set);
    expect((await readRows("passthrough.csv.gz"))[0]?.auditee_uei).toBe("NEW");
    await here.refresh("--rollback");
    expect(await readManifest()).toMatchObject({ data_set: before.data_set, files: before.files });
  });

  it("are made up for when a data set was published without them", async () => {
    await here.load();
    await here.refresh("--from", here.directory);
    expect((await readManifest()).data_set).toBe(await here.liveId());
    expect(await readRows("general.csv.gz")).toHaveLength(4);
  });
});

// A deployment serves them where PUBLIC_DATA is set; npm start always does.
describe.skipIf(!target.appUrl.includes("127.0.0.1"))("the report service", () => {
  it("serves them, and HEAD of nothing else", async () => {
    const { files } = await (await fetch(`${target.appUrl}/public-data/manifest.json`)).json();
    const general = files.find(({ name }: { name: string }) => name === "general.csv.gz");
    const head = await fetch(`${target.appUrl}/public-data/general.csv.gz`, { method: "HEAD" });
    expect([head.status, head.headers.get("etag")]).toEqual([200, `"${general?.sha256}"`]);
    for (const [method, path, status] of [
      ["GET", "/public-data/nothing.csv.gz", 404],
      ["OPTIONS", "/public-data/general.parquet", 204],
      ["PUT", "/public-data/general.csv.gz", 405],
      ["HEAD", "/healthz", 405],
      ["OPTIONS", "/healthz", 405],
    ] as const)
      expect((await fetch(target.appUrl + path, { method })).status, `${method} ${path}`).toBe(status);
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
});
