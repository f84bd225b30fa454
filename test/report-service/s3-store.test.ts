import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createS3Store } from "../../report-service/s3-store.ts";
import { StorageUnavailable } from "../../report-service/storage.ts";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { verifySigV4 } from "../support/verify-sigv4.ts";
import { openTokens, type Tokens } from "./database.ts";
import { send } from "./http.ts";
import { downloads, type Parts, pdf, reportId, startParts } from "./parts.ts";
import { type Relay, startRelay } from "./relay.ts";

const credentials = { accessKeyId: "AKIDTEST", secretAccessKey: "a/secret+key" };
const bucket = "single-audit";
let server: S3Server;
let wire: Relay;
let parts: Parts;
let tokens: Tokens;

beforeAll(async () => {
  server = await startS3Server({ ...credentials, bucket, objects: { [`reports/${reportId}.pdf`]: pdf } });
  wire = await startRelay(server.port);
  parts = await startParts();
  tokens = await openTokens();
});
afterEach(async () => {
  Object.assign(server, { secondsAhead: 0, failure: null, requests: [] });
  await wire.pass();
});
afterAll(async () => {
  await tokens.close();
  await parts.close();
  await wire.close();
  await server.close();
});

function options(changes: Partial<Parameters<typeof createS3Store>[0]> = {}) {
  const endpoint = `http://127.0.0.1:${wire.port}`;
  const basic = { bucket, region: "us-gov-west-1", keyPrefix: "reports/", forcePathStyle: true };
  return { ...basic, endpoint, credentials, ...changes };
}

async function sign(changes: Partial<Parameters<typeof createS3Store>[0]> = {}, report = reportId) {
  const store = createS3Store(options(changes));
  try {
    return await store.signDownload(report, 50);
  } finally {
    store.close();
  }
}

async function download(address: string | null) {
  if (address === null) throw new Error("There is no address.");
  const { origin, pathname, search } = new URL(address);
  return send(origin, pathname + search);
}

describe("the verifier of these tests", () => {
  // The examples of AWS's documentation, with its published keys.
  const keys = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
  const signedAt = Date.UTC(2013, 4, 24);
  const headers = { host: "examplebucket.s3.amazonaws.com" };
  const signature = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404";
  const target =
    "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256" +
    "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request" +
    `&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=${signature}`;

  test("takes AWS's example of a signed query, for its time and no longer", () => {
    const verify = (changed: string, now: number) =>
      verifySigV4({ method: "GET", target: changed, headers }, { ...keys, now });
    expect(verify(target, signedAt)).toBeNull();
    expect(verify(target, signedAt + 86_399_000)).toBeNull();
    expect(verify(target, signedAt + 86_400_000)).toBe("AccessDenied");
    expect(verify(target.replace("86400", "86401"), signedAt)).toBe("SignatureDoesNotMatch");
    expect(verify(target.replace("test", "best"), signedAt)).toBe("SignatureDoesNotMatch");
  });

  test("takes AWS's example of a signed header", () => {
    const authorization =
      "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
      "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date," +
      "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
    const signed = {
      ...headers,
      authorization,
      range: "bytes=0-9",
      "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      "x-amz-date": "20130524T000000Z",
    };
    const request = { method: "GET", target: "/test.txt", headers: signed };
    expect(verifySigV4(request, { ...keys, now: signedAt })).toBeNull();
    const other = { ...request, headers: { ...signed, range: "bytes=0-8" } };
    expect(verifySigV4(other, { ...keys, now: signedAt })).toBe("SignatureDoesNotMatch");
  });
});

describe("a signed S3 address", () => {
  test("downloads the object as a PDF named after the report", async () => {
    expect(await download(await sign())).toMatchObject({
      status: 200,
      body: pdf,
      headers: {
        "content-type": "application/pdf",
        "content-disposition": `attachment; filename="${reportId}.pdf"`,
        "cache-control": "private, no-store",
      },
    });
    expect(server.requests).toEqual([
      `HEAD /${bucket}/reports/${reportId}.pdf`,
      `GET /${bucket}/reports/${reportId}.pdf`,
    ]);
  });

  test("lives for 50 s", async () => {
    const address = await sign();
    expect(new URL(String(address)).searchParams.get("X-Amz-Expires")).toBe("50");
    server.secondsAhead = 48;
    expect((await download(address)).status).toBe(200);
    server.secondsAhead = 51;
    expect((await download(address)).status).toBe(403);
  });

  test("names the public endpoint, while the service asks its own", async () => {
    const publicWire = await startRelay(server.port);
    try {
      const address = await sign({ publicEndpoint: `http://127.0.0.1:${publicWire.port}` });
      expect(new URL(String(address)).port).toBe(String(publicWire.port));
      expect((await download(address)).status).toBe(200);
    } finally {
      await publicWire.close();
    }
  });

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
    expect((await download(address)).status).toBe(200);
  });

  test("is not made for an object that is not there, or something that is no report ID", async () => {
    expect(await sign({}, "2023-06-GSAFAC-0000000404")).toBeNull();
    expect(server.requests).toHaveLength(1);
    expect(await sign({}, "../secret")).toBeNull();
    expect(server.requests).toHaveLength(1);
  });
});

describe("S3 that is out", () => {
  test.each([
    [403, "AccessDenied", 1],
    [500, "InternalError", 2],
    [503, "SlowDown", 2],
    [301, "PermanentRedirect", 1],
  ])(
    "and answers %i is unavailable, with its error as the cause, after %s is asked %i time(s)",
    async (status, code, times) => {
      server.failure = { status, code };
      const error: unknown = await sign().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(StorageUnavailable);
      expect((error as Error).cause).toMatchObject({ $metadata: { httpStatusCode: status } });
      expect(server.requests).toHaveLength(times);
    },
  );

  test("and knows neither key nor secret is unavailable", async () => {
    const stranger = { ...credentials, accessKeyId: "AKIDOTHER" };
    await expect(sign({ credentials: stranger })).rejects.toBeInstanceOf(StorageUnavailable);
    const wrong = { ...credentials, secretAccessKey: "wrong" };
    await expect(sign({ credentials: wrong })).rejects.toBeInstanceOf(StorageUnavailable);
  });

  test("and refuses connections, or answers nothing for 3 s, is unavailable", async () => {
    await wire.refuse();
    await expect(sign()).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
    await wire.hold();
    const start = Date.now();
    await expect(sign()).rejects.toMatchObject({
      name: "StorageUnavailable",
      cause: { name: "TimeoutError" },
    });
    expect(Date.now() - start).toBeLessThan(3500);
  });

  test("or has no such bucket, or refuses this service, is not ready", async () => {
    const store = createS3Store(options());
    await expect(store.check()).resolves.toBeUndefined();
    store.close();
    const other = createS3Store(options({ bucket: "elsewhere" }));
    await expect(other.check()).rejects.toBeInstanceOf(StorageUnavailable);
    other.close();
  });

  test.each([
    ["access denied", () => Object.assign(server, { failure: { status: 403, code: "AccessDenied" } })],
    ["500", () => Object.assign(server, { failure: { status: 500, code: "InternalError" } })],
    ["no connection", () => wire.refuse()],
    ["no answer", () => wire.hold()],
  ])("costs no token (%s): 503, and 302 once it is back", async (_how, breakStorage) => {
    const service = await parts.startAnother({ kind: "s3", ...options() });
    const token = await tokens.issue(reportId);
    await breakStorage();
    const refused = await send(service.url, `${downloads}/${token}`);
    expect(refused).toMatchObject({
      status: 503,
      headers: { "retry-after": "5", "cache-control": "no-store" },
    });
    expect(await tokens.isSpent(token)).toBe(false);
    server.failure = null;
    await wire.pass();
    const redirect = await send(service.url, `${downloads}/${token}`);
    expect(redirect.status).toBe(302);
    expect((await download(String(redirect.headers.location))).body).toBe(pdf);
  });

  test("leaves no key and no signature in the log", () => {
    const log = parts.logs.lines.join("");
    expect(log).toContain("StorageUnavailable");
    expect(log).not.toMatch(/X-Amz|AKIDTEST|a\/secret/i);
  });
});
