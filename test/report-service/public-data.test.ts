import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPublicFiles } from "../../report-service/public-files.ts";
import { servePublicData } from "../../report-service/serve-public-data.ts";

// The addresses at which programs fetch the federal service's CSV files.

const app = fastify({ exposeHeadRoutes: false });
const csv = "report_id,audit_year\n2023-06-GSAFAC-0000000001,2023\n";
const compressed = gzipSync(csv);
const sha256 = createHash("sha256").update(compressed).digest("hex");
const file = { format: "csv", rows: 1, bytes: compressed.length, sha256 };
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "public-"));
  const files = [
    { ...file, name: "general.csv.gz", table: "general", audit_year: null },
    { ...file, name: "general-2023.csv.gz", table: "general", audit_year: "2023" },
    { ...file, name: "general.parquet", table: "general", audit_year: null, format: "parquet" },
  ];
  await mkdir(path.join(directory, "1"));
  for (const { name } of files) await writeFile(path.join(directory, "1", name), compressed);
  const manifest = { data_set: "1", published_at: "2026-01-01T00:00:00.000Z", files, changes: [] };
  await writeFile(path.join(directory, "manifest.json"), JSON.stringify(manifest));
  servePublicData(app, openPublicFiles(directory));
});
afterAll(() => rm(directory, { recursive: true }));

const get = (name: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") =>
  app.inject({ method, url: `/dissemination/public-data/gsa/${name}`, headers });

describe.each(["full/general.csv", "audit-year/2023-ay-general.csv"])("%s", (name) => {
  test.each(["", "identity", "gzip;q=0", "br"])("is CSV for clients that accept %j", async (encoding) => {
    const answer = await get(name, encoding === "" ? {} : { "accept-encoding": encoding });
    expect([answer.statusCode, answer.body]).toEqual([200, csv]);
    expect(answer.headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${path.basename(name)}"`,
      vary: "Accept-Encoding",
    });
    expect(answer.headers["content-encoding"]).toBeUndefined();
  });

  test("is the file as it lies on disk for clients that accept gzip, ranges included", async () => {
    const headers = { "accept-encoding": "br, gzip;q=0.5" };
    const answer = await get(name, headers);
    expect(gunzipSync(answer.rawPayload).toString()).toBe(csv);
    expect(answer.headers).toMatchObject({ "content-encoding": "gzip", etag: `"${sha256}"` });
    const part = await get(name, { ...headers, range: "bytes=2-5" });
    expect([part.statusCode, part.rawPayload]).toEqual([206, compressed.subarray(2, 6)]);
  });

  test("has an ETag of its own for each encoding", async () => {
    const [plain, gzip] = [{}, { "accept-encoding": "gzip" }];
    const etag = String((await get(name, plain, "HEAD")).headers.etag);
    expect((await get(name, { ...plain, "if-none-match": etag })).statusCode).toBe(304);
    expect((await get(name, { ...gzip, "if-none-match": etag })).statusCode).toBe(200);
    expect((await get(name, { ...plain, "if-match": `"${sha256}"` })).statusCode).toBe(412);
  });
});

test.each([
  "full/general",
  "full/none.csv",
  "full/general.parquet",
  "audit-year/2022-ay-general.csv",
  "audit-year/general.csv",
  "..%2f..%2fmanifest.json",
])("there is no %s", async (name) => {
  const answer = await get(name);
  expect([answer.statusCode, answer.json().code]).toEqual([404, "file_not_found"]);
});
