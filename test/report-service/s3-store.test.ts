import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createS3Store } from "../../report-service/s3-store.ts";
import { StorageUnavailable } from "../../report-service/storage.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { send } from "./http.ts";
import {
  bucket,
  credentials,
  downloads,
  loggedSecrets,
  type Parts,
  pdf,
  reportId,
  startParts,
} from "./parts.ts";
import { type Relay, startRelay } from "./relay.ts";

type Options = Parameters<typeof createS3Store>[0];
let server: S3Server;
let wire: Relay;

beforeAll(async () => {
  const objects = { [`reports/${reportId}.pdf`]: pdf, "source/general.csv": "report_id\n" };
  server = await startS3Server({ ...credentials, bucket, objects });
  wire = await startRelay(server.port);
});
afterEach(async () => {
  Object.assign(server, { secondsAhead: 0, failure: null, requests: [] });
  await wire.pass();
});
afterAll(async () => {
  await wire.refuse();
  await server.close();
});

function options(changes: Partial<Options> = {}): Options {
  const endpoint = `http://127.0.0.1:${wire.port}`;
  const basic = { bucket, region: "us-gov-west-1", keyPrefix: "reports/", forcePathStyle: true };
  return { ...basic, endpoint, credentials, ...changes };
}

async function sign(changes: Partial<Options> = {}, report = reportId) {
  const store = createS3Store(options(changes));
  return await store.signDownload(report, 50).finally(store.close);
}

describe("a signed S3 address", () => {
  test("has the bucket in its host unless told otherwise", async () => {
    // Where names below localhost are not resolved, the error tells the name.
    const nameHost = (forcePathStyle: boolean) =>
      sign({ forcePathStyle, endpoint: `http://localhost:${wire.port}` }).then(
        (address) => new URL(String(address)).hostname,
        (error: Error) => (error.cause as { hostname?: string }).hostname,
      );
    expect(await nameHost(false)).toBe(`${bucket}.localhost`);
    expect(await nameHost(true)).toBe("localhost");
  });

  test("carries a session token, if there is one", async () => {
    const address = await sign({ credentials: { ...credentials, sessionToken: "a session/token" } });
    expect(new URL(String(address)).searchParams.get("X-Amz-Security-Token")).toBe("a session/token");
  });
});

test.each([
  [403, "AccessDenied", 1],
  [500, "InternalError", 2],
  [503, "SlowDown", 2],
  [301, "PermanentRedirect", 1],
])("S3 that answers %i %s is unavailable after %i request(s)", async (status, code, times) => {
  server.failure = { status, code };
  const error: unknown = await sign().catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StorageUnavailable);
  expect((error as Error).cause).toMatchObject({ $metadata: { httpStatusCode: status } });
  expect(server.requests).toHaveLength(times);
});

test("a service without its bucket is not ready", async () => {
  const store = createS3Store(options({ bucket: "elsewhere" }));
  await expect(store.check()).rejects.toBeInstanceOf(StorageUnavailable);
  store.close();
});

// As in docker-compose.yml: clients reach the report service, and only it reaches the storage.
describe("a storage that clients cannot reach", () => {
  const publicEndpoint = "https://reports.example.gov";
  let parts: Parts;
  let url: string;
  let address: string;
  beforeAll(async () => {
    parts = await startParts();
    ({ url } = await parts.startAnother({ kind: "s3", ...options({ publicEndpoint }) }));
    const { headers } = await send(url, `${downloads}/${await parts.tokens.issue()}`);
    const { origin, pathname, search } = new URL(String(headers.location));
    expect(origin).toBe(publicEndpoint);
    address = pathname + search;
  });
  afterAll(() => parts.close());

  test("is reached through the report service, by the address that a token is redeemed for", async () => {
    const reply = await send(url, address);
    expect(reply).toMatchObject({ status: 200, body: pdf });
    expect(reply.headers).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": `attachment; filename="${reportId}.pdf"`,
      "cache-control": "private, no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const range = { range: "bytes=0-3" };
    expect(await send(url, address, { headers: range })).toMatchObject({ status: 206, body: "%PDF" });
  });

  test.each<[string, number, (address: string) => string, method?: string]>([
    ["a changed key", 403, (it) => it.replace("reports/", "reports/../source/")],
    ["a changed signature", 403, (it) => it.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
    ["no signature", 404, (it) => it.replace(/\?.*/, "")],
    ["another folder", 403, (it) => it.replace("/reports/", "/source/")],
    ["the bucket", 403, () => `/${bucket}?X-Amz-Signature=0`],
    ["HEAD", 405, (it) => it, "HEAD"],
    ["PUT", 405, (it) => it, "PUT"],
  ])("is not told to clients with %s: %i", async (what, status, rewrite, method = "GET") => {
    expect((await send(url, rewrite(address), { method })).status).toBe(status);
    if (!what.startsWith("a changed")) expect(server.requests).toEqual([]);
  });

  test("that is out gives 503, and the same address works once it is back", async () => {
    await wire.refuse();
    const refused = await send(url, address);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    await wire.pass();
    expect((await send(url, address)).status).toBe(200);
  });

  test("leaves no signature in the log", () => {
    const log = parts.log.join("");
    expect(log).toContain("storage did not answer");
    expect(log).not.toMatch(loggedSecrets);
  });
});
