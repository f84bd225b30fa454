import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { withPublisher } from "../../scripts/refresh/connect-publisher.ts";
import type { CsvFile } from "../../scripts/refresh/csv-writer.ts";
import { describeFile, writeCsv } from "../../scripts/refresh/write-csv.ts";
import { openPublicFiles } from "../../site/public-data/public-files.ts";
import { servePublicData } from "../../site/public-data/serve-public-data.ts";
import { bucket, credentials, useDirectory } from "../report-service/parts.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { useDeployedDatabase } from "../support/scratch-database.ts";

// Clients that do not accept gzip can read parts of a file's text, although only the compressed file is stored.

const database = useDeployedDatabase();
const inDirectory = useDirectory();
const app = fastify();
const address = "/dissemination/public-data/gsa/full/general.csv";
let s3: S3Server;
let csv: CsvFile;
let stored: Buffer;
let whole: Buffer;
/** A file with some of the rows. */
let odd: string;

beforeAll(async () => {
  s3 = await startS3Server({ bucket, ...credentials });
  const [file, sql] = [
    inDirectory("general.csv.gz"),
    "select n % 2, md5(n::text) from generate_series(1, 400000) as n",
  ];
  odd = inDirectory("odd.csv.gz");
  const targets = [{ path: file }, { path: odd, only: { column: 0, text: "1" } }];
  const config = { connectionString: database.url };
  const [written] = await withPublisher(config, (client) => writeCsv(client, sql, targets));
  if (written === undefined) throw new Error("No file was written.");
  csv = written;
  stored = await readFile(file);
  whole = gunzipSync(stored);
  const described = { ...(await describeFile(file)), text: csv.text, rows: csv.rows };
  const files = [{ name: "general.csv.gz", table: "general", audit_year: null, format: "csv", ...described }];
  const manifest = { data_set: "1", published_at: "2026-01-01T00:00:00Z", files, changes: [] };
  s3.objects.set("manifest.json", Buffer.from(JSON.stringify(manifest)));
  for (const { name } of files) s3.objects.set(`1/${name}`, stored);
  const endpoint = `http://127.0.0.1:${s3.port}`;
  const options = { region: "us-gov-west-1", endpoint, forcePathStyle: true, credentials };
  servePublicData(app, openPublicFiles(`s3://${bucket}`, options));
});
beforeEach(() => {
  s3.bytesSent = 0;
});
afterAll(() => s3.close());

const ask = (headers = {}, method: "GET" | "HEAD" = "GET") => app.inject({ method, url: address, headers });

it("a compressed file has several parts, and says how long its text is", () => {
  expect(csv.text.starts.length).toBeGreaterThan(3);
  expect(csv.text.bytes).toBe(whole.length);
  // A second gzip member would begin like a file.
  expect(stored.lastIndexOf(stored.subarray(0, 10))).toBe(0);
});

it("a file of some rows has them in the same order", async () => {
  const lines = whole
    .toString()
    .split("\n")
    .filter((line) => !line.startsWith("0,"));
  expect(gunzipSync(await readFile(odd)).toString() === lines.join("\n")).toBe(true);
});

it("sends the whole text with its length", async () => {
  const { statusCode, headers, rawPayload } = await ask();
  expect([statusCode, rawPayload.equals(whole)]).toEqual([200, true]);
  expect(headers).toMatchObject({ "accept-ranges": "bytes", "content-length": `${whole.length}` });
  expect((await ask({}, "HEAD")).headers).toMatchObject({ "content-length": `${whole.length}` });
});

it.each([
  ["bytes=0-9", 0, 10],
  ["bytes=-7", -7, undefined],
  [`bytes=${(4 << 20) - 3}-${(4 << 20) + 2}`, (4 << 20) - 3, (4 << 20) + 3],
  [`bytes=${4 << 20}-${(8 << 20) - 1}`, 4 << 20, 8 << 20],
  ["bytes=5000000-", 5_000_000, undefined],
])("sends the part %s", async (range, start, end) => {
  const { statusCode, headers, rawPayload } = await ask({ range });
  const part = whole.subarray(start, end);
  expect([statusCode, rawPayload.equals(part)]).toEqual([206, true]);
  expect(headers["content-length"]).toBe(`${part.length}`);
});

it("reads from storage only the parts that contain the range", async () => {
  await ask({ range: "bytes=-100" });
  const manifest = s3.objects.get("manifest.json")?.length ?? 0;
  expect(s3.bytesSent).toBe(manifest + stored.length - 8 - (csv.text.starts.at(-1) ?? 0));
});

it("sends a part only of the same file", async () => {
  const { headers } = await ask({}, "HEAD");
  const range = "bytes=10-";
  expect((await ask({ range, "if-range": headers.etag })).statusCode).toBe(206);
  expect((await ask({ range, "if-range": '"other"' })).statusCode).toBe(200);
  expect((await ask({ range, "if-match": '"other"' })).statusCode).toBe(412);
  expect(await ask({ range: `bytes=${whole.length}-` })).toMatchObject({
    statusCode: 416,
    headers: { "content-range": `bytes */${whole.length}` },
  });
});
