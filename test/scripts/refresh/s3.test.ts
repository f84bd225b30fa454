import { readFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPublicFiles } from "../../../report-service/public-files.ts";
import { servePublicData } from "../../../report-service/serve-public-data.ts";
import { refreshDataSet } from "../../../scripts/refresh/refresh-data-set.ts";
import { runScript } from "../../support/run-stack.ts";
import { type S3Server, startS3Server } from "../../support/s3-server.ts";
import { useDeployedDatabase } from "../../support/scratch-database.ts";
import { id, makeDirectory, submission, writeCsv } from "./support/source-files.ts";

const database = useDeployedDatabase();
let s3: S3Server;
let endpoint: string;
const saved = { ...process.env };

beforeAll(async () => {
  await database.client.query("set role publisher");
  const keys = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };
  s3 = await startS3Server({ bucket: "data", ...keys });
  endpoint = `http://127.0.0.1:${s3.port}`;
  Object.assign(process.env, {
    S3_ENDPOINT: endpoint,
    S3_REGION: "us-gov-west-1",
    S3_FORCE_PATH_STYLE: "true",
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  });
});
afterAll(async () => {
  process.env = saved;
  await s3.close();
});

const refresh = () =>
  refreshDataSet(database.client, {
    from: "s3://data/source",
    publicData: "s3://data/public",
    acceptShrink: true,
  });

async function upload(numbers: number[], more = {}): Promise<void> {
  const { directory, remove } = await makeDirectory();
  await writeCsv(
    directory,
    "general",
    numbers.map((number) => submission(number, more)),
  );
  const text = await readFile(path.join(directory, "general.csv"));
  await remove();
  s3.objects.set("source/2023-general.csv.gz", gzipSync(text));
  s3.objects.set("source/old/general.csv", Buffer.from("of another day"));
}

it("publishes from a bucket, once for the same objects, and tells faults by their address", async () => {
  await upload([1, 2]);
  expect(await refresh()).toMatchObject({ outcome: "published" });
  expect((await database.client.query("select report_id from disclosed.general")).rows).toEqual(
    [1, 2].map((number) => ({ report_id: id(number) })),
  );
  expect(await refresh()).toMatchObject({ outcome: "skipped" });
  await upload([1], { is_public: "perhaps" });
  await expect(refresh()).rejects.toThrow("s3://data/source/2023-general.csv.gz:2: column is_public");
});

it("keeps the bulk files of the two last data sets in a bucket, from where they are served", async () => {
  for (const number of [3, 4, 5]) {
    await upload([number]);
    await refresh();
  }
  const { rows } = await database.client.query(
    "select id from publication.data_sets where state <> 'dropped' order by id",
  );
  const folders = new Set(
    [...s3.objects.keys()]
      .filter((key) => key.endsWith(".gz") && key.startsWith("public/") && !key.startsWith("public/changes-"))
      .map((key) => key.split("/")[1]),
  );
  expect([...folders].sort()).toEqual(rows.map((row) => row.id));
  const app = fastify();
  const options = { region: "us-gov-west-1", endpoint, forcePathStyle: true };
  servePublicData(app, openPublicFiles("s3://data/public", options));
  const whole = await app.inject("/public-data/general.csv.gz");
  expect(gunzipSync(whole.rawPayload).toString()).toContain(id(5));
  const part = await app.inject({ url: "/public-data/general.csv.gz", headers: { range: "bytes=5-9" } });
  expect([part.statusCode, part.rawPayload]).toEqual([206, whole.rawPayload.subarray(5, 10)]);
  expect((await app.inject("/public-data/manifest.json")).json().data_set).toBe(rows[1].id);
});

describe("npm run refresh says in one line", () => {
  const run = async (more: Record<string, string>) => {
    const variables = [
      "S3_ENDPOINT",
      "S3_REGION",
      "S3_FORCE_PATH_STYLE",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
    ];
    const { exited, output } = runScript("refresh.ts", ["--from", "s3://data/source", "--force"], {
      ...Object.fromEntries(variables.map((name) => [name, process.env[name] ?? ""])),
      DATABASE_URL: database.url,
      AWS_MAX_ATTEMPTS: "1",
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      ...more,
    });
    return { code: await exited, output: output() };
  };

  it("that the secret is wrong", async () => {
    await upload([6]);
    expect(await run({ AWS_SECRET_ACCESS_KEY: "wrong" })).toEqual({
      code: 1,
      output: "s3://data/source cannot be read: SignatureDoesNotMatch.\n",
    });
  });

  it("that the key is not one of the bucket's", async () => {
    expect(await run({ AWS_ACCESS_KEY_ID: "AKIDOTHER" })).toEqual({
      code: 1,
      output: "s3://data/source cannot be read: InvalidAccessKeyId.\n",
    });
  });

  it("that nobody listens there", async () => {
    const { code, output } = await run({ S3_ENDPOINT: "http://127.0.0.1:9" });
    expect([code, output]).toEqual([1, "s3://data/source cannot be read: ECONNREFUSED.\n"]);
  });

  it("that the bulk files cannot be written, and leaves the live data set", async () => {
    const before = (await database.client.query("select id from disclosed.data_set")).rows;
    const { code, output } = await run({ PUBLIC_DATA: "s3://other/public" });
    expect(code).toBe(1);
    expect(output.trimEnd().split("\n").at(-1)).toMatch(
      /^s3:\/\/other\/public\S* cannot be written: NoSuchBucket\.$/,
    );
    expect((await database.client.query("select id from disclosed.data_set")).rows).toEqual(before);
  });
});
