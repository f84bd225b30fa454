import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { fastify } from "fastify";
import { beforeAll, describe, expect, test } from "vitest";
import { openPublicFiles } from "../../report-service/public-files.ts";
import { servePublicData } from "../../report-service/serve-public-data.ts";
import { useDirectory } from "./parts.ts";

// The addresses at which programs fetch the federal service's CSV files.

const app = fastify({ exposeHeadRoutes: false });
const csv = "report_id,audit_year\n2023-06-GSAFAC-0000000001,2023\n";
const compressed = gzipSync(csv);
const sha256 = createHash("sha256").update(compressed).digest("hex");
const inDirectory = useDirectory();

beforeAll(async () => {
  await mkdir(inDirectory("1"));
  const describeFile = (name: string, audit_year: string | null, format = "csv") => {
    return { name, table: "general", audit_year, format, rows: 1, bytes: compressed.length, sha256 };
  };
  const files = [
    describeFile("general.csv.gz", null),
    describeFile("general-2023.csv.gz", "2023"),
    describeFile("general.parquet", null, "parquet"),
  ];
  for (const { name } of files) await writeFile(inDirectory("1", name), compressed);
  const manifest = { data_set: "1", published_at: "2026-01-01T00:00:00.000Z", files, changes: [] };
  await writeFile(inDirectory("manifest.json"), JSON.stringify(manifest));
  servePublicData(app, openPublicFiles(inDirectory()));
});

const get = (name: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/dissemination/public-data/gsa/${name}`, headers });

describe.each(["full/general.csv", "audit-year/2023-ay-general.csv"])("%s", (name) => {
  const disposition = `attachment; filename="${path.basename(name)}"`;
  test.each(["", "identity", "gzip;q=0", "br"])("is CSV for clients that accept %j", async (encoding) => {
    const { statusCode, body, headers } = await get(name, { "accept-encoding": encoding });
    expect([statusCode, body, headers["content-encoding"]]).toEqual([200, csv, undefined]);
    const plain = { "content-type": "text/csv; charset=utf-8", vary: "Accept-Encoding" };
    expect(headers).toMatchObject({ ...plain, "content-disposition": disposition });
  });

  test("is the file as it lies on disk for clients that accept gzip, ranges included", async () => {
    const accept = { "accept-encoding": "br, gzip;q=0.5" };
    const { rawPayload, headers } = await get(name, accept);
    expect(gunzipSync(rawPayload).toString()).toBe(csv);
    expect(headers).toMatchObject({ "content-encoding": "gzip", etag: `"${sha256}"` });
    const part = await get(name, { ...accept, range: "bytes=2-5" });
    expect([part.statusCode, part.rawPayload]).toEqual([206, compressed.subarray(2, 6)]);
  });

  test("has an ETag of its own for each encoding", async () => {
    const etag = String((await get(name)).headers.etag);
    expect((await get(name, { "if-none-match": etag })).statusCode).toBe(304);
    expect((await get(name, { "accept-encoding": "gzip", "if-none-match": etag })).statusCode).toBe(200);
    expect((await get(name, { "if-match": `"${sha256}"` })).statusCode).toBe(412);
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
