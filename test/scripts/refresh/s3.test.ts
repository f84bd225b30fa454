import { gunzipSync, gzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openPublicFiles } from "../../../site/public-data/public-files.ts";
import { servePublicData } from "../../../site/public-data/serve-public-data.ts";
import { type S3Server, startS3Server } from "../../support/s3-server.ts";
import { refreshHere, useRefresh } from "./support/refresh.ts";
import { id, submission } from "./support/source-files.ts";

const here = useRefresh();
const keys = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };
let s3: S3Server;
let environment: Record<string, string>;

beforeAll(async () => {
  s3 = await startS3Server({ bucket: "data", ...keys });
  environment = {
    DATABASE_URL: here.database.url,
    PUBLIC_DATA: "s3://data/public",
    S3_ENDPOINT: `http://127.0.0.1:${s3.port}`,
    S3_REGION: "us-gov-west-1",
    S3_FORCE_PATH_STYLE: "true",
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  };
});
afterAll(() => s3.close());

const refresh = (more: Record<string, string> = {}, ...args: string[]) =>
  refreshHere(["--from", "s3://data/source", "--accept-shrink", ...args], { ...environment, ...more });

async function upload(numbers: number[], more = {}): Promise<void> {
  const rows = numbers.map((number) => submission(number, more));
  s3.objects.set("source/2023-general.csv.gz", gzipSync(await here.write("general", rows)));
  s3.objects.set("source/old/general.csv", Buffer.from("of another day"));
}

it("publishes from a bucket, skips unchanged objects, and reports faults with their URL", async () => {
  await upload([1, 2]);
  expect(await refresh()).toMatchObject({ code: 0 });
  expect(await here.list("select report_id from disclosed.general")).toEqual([id(1), id(2)]);
  expect((await refresh()).output).toContain("nothing to do");
  await upload([1], { is_public: "perhaps" });
  expect((await refresh()).output).toContain("s3://data/source/2023-general.csv.gz:2: column is_public");
});

it("keeps the bulk files of the last two data sets in a bucket, and serves them from there", async () => {
  for (const number of [4, 5]) {
    await upload([number]);
    await refresh();
  }
  const ids = await here.list("select id from publication.data_sets where state <> 'dropped' order by id");
  const folders = [...s3.objects.keys()].flatMap(
    (key) => /^public\/([0-9a-f-]{36})\/.*gz$/.exec(key)?.[1] ?? [],
  );
  expect([...new Set(folders)].sort()).toEqual(ids);
  const app = fastify();
  const { S3_ENDPOINT: endpoint = "", S3_REGION: region = "" } = environment;
  const options = { region, endpoint, forcePathStyle: true, credentials: keys };
  servePublicData(app, openPublicFiles("s3://data/public", options));
  const url = "/public-data/general.csv.gz";
  const whole = await app.inject(url);
  expect(gunzipSync(whole.rawPayload).toString()).toContain(id(5));
  const part = await app.inject({ url, headers: { range: "bytes=5-9" } });
  expect([part.statusCode, part.rawPayload]).toEqual([206, whole.rawPayload.subarray(5, 10)]);
  expect((await app.inject("/public-data/manifest.json")).json().data_set).toBe(ids[1]);
});

it.each([
  ["the key is unknown", { AWS_ACCESS_KEY_ID: "AKIDOTHER" }, "data/source", "read: InvalidAccessKeyId"],
  ["nothing listens", { S3_ENDPOINT: "http://127.0.0.1:9" }, "data/source", "read: ECONNREFUSED"],
  ["the target bucket is missing", { PUBLIC_DATA: "s3://other" }, "other", "read: NoSuchBucket"],
])("says in its last line that %s, and keeps the live data set", async (_what, more, place, reason) => {
  const before = await here.liveId();
  const { code, output } = await refresh(more, "--force");
  expect(code).toBe(1);
  expect(output.trimEnd().split("\n").at(-1)).toMatch(new RegExp(`^s3://${place} cannot be ${reason}\\.$`));
  expect(output).not.toMatch(/^ +at /m);
  expect(await here.liveId()).toBe(before);
});
