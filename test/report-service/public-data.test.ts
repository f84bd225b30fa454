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

const cases = [
  { address: "full/general.csv", name: "general.csv.gz", audit_year: null, csv: "report_id\nA\nB\n" },
  { address: "audit-year/2023-ay-general.csv", name: "general-2023.csv.gz", audit_year: "2023", csv: "A\n" },
].map((file) => {
  const compressed = gzipSync(file.csv);
  return { ...file, compressed, sha256: createHash("sha256").update(compressed).digest("hex") };
});
const app = fastify({ exposeHeadRoutes: false });
const inDirectory = useDirectory();

beforeAll(async () => {
  await mkdir(inDirectory("1"));
  const files = cases.map(({ name, audit_year, sha256, compressed: { length: bytes } }) => {
    return { name, table: "general", audit_year, format: "csv", rows: 1, bytes, sha256 };
  });
  const parquet = files.map((file) => ({ ...file, name: "general.parquet", format: "parquet" }));
  const manifest = { data_set: "1", published_at: "2026-01-01", files: [...parquet, ...files], changes: [] };
  await writeFile(inDirectory("manifest.json"), JSON.stringify(manifest));
  for (const { name, compressed } of cases) await writeFile(inDirectory("1", name), compressed);
  servePublicData(app, openPublicFiles(inDirectory()));
});

const get = (name: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/dissemination/public-data/gsa/${name}`, headers });

describe.each(cases)("$address", ({ address, csv, compressed, sha256 }) => {
  const disposition = `attachment; filename="${path.basename(address)}"`;
  test.each(["", "identity", "gzip;q=0", "br"])("is CSV for clients that accept %j", async (encoding) => {
    const { statusCode, body, headers } = await get(address, { "accept-encoding": encoding });
    expect([statusCode, body, headers["content-encoding"]]).toEqual([200, csv, undefined]);
    const plain = { "content-type": "text/csv; charset=utf-8", vary: "Accept-Encoding" };
    expect(headers).toMatchObject({ ...plain, "content-disposition": disposition });
  });

  test("is the file as it lies on disk for clients that accept gzip, ranges included", async () => {
    const accept = { "accept-encoding": "br, gzip;q=0.5" };
    const { rawPayload, headers } = await get(address, accept);
    expect(gunzipSync(rawPayload).toString()).toBe(csv);
    expect(headers).toMatchObject({ "content-encoding": "gzip", etag: `"${sha256}"` });
    const part = await get(address, { ...accept, range: "bytes=2-5" });
    expect([part.statusCode, part.rawPayload]).toEqual([206, compressed.subarray(2, 6)]);
  });

  test("has an ETag of its own for each encoding", async () => {
    const etag = String((await get(address)).headers.etag);
    expect((await get(address, { "if-none-match": etag })).statusCode).toBe(304);
    const gzip = { "accept-encoding": "gzip", "if-none-match": etag };
    expect((await get(address, gzip)).statusCode).toBe(200);
    expect((await get(address, { "if-match": `"${sha256}"` })).statusCode).toBe(412);
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
