import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createS3Store } from "../../report-service/s3-store.ts";
import { openBucket } from "../../shared/objects/bucket.ts";
import { hastyLimits } from "../../shared/web/call-storage.ts";
import { securityHeaders } from "../../shared/web/error-responses.ts";
import { query } from "../support/target.ts";
import { follow, type Reply, send } from "./http.ts";
import {
  bucket,
  credentials,
  describeS3,
  downloads,
  type Parts,
  pdf,
  pdfAnswer,
  reportId,
  startParts,
} from "./parts.ts";

// How the service redirects to files in S3 storage, and what clients see during an outage.

const hungReport = "2023-06-GSAFAC-0000000009";
const unspent = "The token was not used.";
let parts: Parts;
const redeem = (token: string, url = parts.url): Promise<Reply> => send(url, `${downloads}/${token}`);

function expectUnavailable({ status, headers, body }: Reply, details: string | null = unspent): void {
  expect([status, headers["retry-after"], headers["cache-control"]]).toEqual([503, "5", "no-store"]);
  expect(JSON.parse(body)).toMatchObject({ code: "temporarily_unavailable", details });
}

/** Waits, because a busy machine may exceed the time that a check may take. */
async function expectReadiness(database: string, storage: string): Promise<void> {
  const isReady = database === "ok" && storage === "ok";
  const readState = async () => {
    const { status, body } = await send(parts.url, "/readyz");
    return [status, JSON.parse(body)];
  };
  await expect.poll(readState).toEqual([isReady ? 200 : 503, { database, storage }]);
}

beforeAll(async () => {
  parts = await startParts();
});
afterEach(async () => {
  Object.assign(parts.s3, { failure: null, hungKey: null, secondsAhead: 0 });
  await parts.storageWire.pass();
  await parts.databaseWire.pass();
});
afterAll(() => parts.close());

test("a token redirects to the PDF, at a signed URL that works for less than a minute", async () => {
  const redirect = await redeem(await parts.tokens.issue());
  expect(await follow(redirect)).toMatchObject(pdfAnswer);
  const readStatusAfter = async (secondsAhead: number) => {
    Object.assign(parts.s3, { secondsAhead });
    return (await follow(redirect)).status;
  };
  expect([await readStatusAfter(45), await readStatusAfter(60)]).toEqual([200, 403]);
});

test.each([-300, 300])(
  "a signed URL works for less than a minute of storage's clock, which is %i s ahead",
  async (secondsAhead) => {
    parts.s3.secondsAhead = secondsAhead;
    const redirect = await redeem(await parts.tokens.issue());
    expect((await follow(redirect)).status).toBe(200);
    parts.s3.secondsAhead += 60;
    expect((await follow(redirect)).status).toBe(403);
  },
);

test("a token works as soon as the file exists", async () => {
  const late = "2024-01-CENSUS-0000000002";
  const token = await parts.tokens.issue(late);
  expect((await redeem(token)).status).toBe(404);
  parts.s3.objects.set(`reports/${late}.pdf`, Buffer.from(pdf, "latin1"));
  expect((await follow(await redeem(token))).body).toBe(pdf);
});

test("a token whose report ID is a path to another folder gets 404 and stays unspent", async () => {
  const token = await parts.tokens.issue("../../etc/passwd");
  expect([(await redeem(token)).status, await parts.tokens.isSpent(token)]).toEqual([404, false]);
});

describe("storage", () => {
  const fail = (status: number, code: string) => async () =>
    void Object.assign(parts.s3, { failure: { status, code } });
  test.each<[string, () => Promise<void>, times: number]>([
    ["refuses connections", () => parts.storageWire.refuse(), 0],
    ["does not answer", () => parts.storageWire.hold(), 0],
    ["denies access", fail(403, "AccessDenied"), 1],
    ["has lost its bucket", fail(404, "NoSuchBucket"), 2],
    ["answers 301", fail(301, "PermanentRedirect"), 1],
    ["answers 500, twice", fail(500, "InternalError"), 2],
    ["answers 503, twice", fail(503, "SlowDown"), 2],
  ])("that %s: 503 without spending the token, and 302 once it is back", async (_, breakStorage, times) => {
    const token = await parts.tokens.issue();
    parts.s3.requests = [];
    await breakStorage();
    expectUnavailable(await redeem(token));
    expect(parts.s3.requests).toHaveLength(times);
    expect(await parts.tokens.isSpent(token)).toBe(false);
    await expectReadiness("ok", "unavailable");
    parts.s3.failure = null;
    await parts.storageWire.pass();
    expect((await follow(await redeem(token))).body).toBe(pdf);
    await expectReadiness("ok", "ok");
  });

  test("that hangs holds no transaction, delays no other request, and spends no token", async () => {
    Object.assign(parts.s3, { hungKey: `reports/${hungReport}.pdf`, mostHung: 0 });
    const hung = await Promise.all(Array.from({ length: 20 }, () => parts.tokens.issue(hungReport)));
    const other = await parts.tokens.issue();
    const waiting = Promise.all(hung.map((token) => redeem(token)));
    await expect.poll(() => parts.s3.mostHung, { interval: 5 }).toBeGreaterThan(0);
    const transactions =
      "select from pg_stat_activity where application_name = 'report-service' and state like '%transaction%'";
    expect(await query(transactions)).toEqual([]);
    expect((await redeem(other)).status).toBe(302);
    for (const reply of await waiting) expectUnavailable(reply);
    expect(await Promise.all(hung.map(parts.tokens.isSpent))).not.toContain(true);
  });

  test("that hangs does not use up the connections to storage", async () => {
    Object.assign(parts.s3, { hungKey: `${hungReport}.pdf`, mostHung: 0 });
    const limits = { ...hastyLimits, answer: 600_000 };
    const reports = openBucket(`s3://${bucket}/reports`, { ...describeS3(parts.s3.port), limits });
    // By default, the AWS SDK opens 50.
    for (let count = 0; count < 60; count += 1) reports.has(`${hungReport}.pdf`).catch(() => {});
    await expect.poll(() => parts.s3.mostHung).toBe(60);
    reports.close();
  });
});

describe("a database", () => {
  test("that refuses connections: 503, and 302 once it is back", async () => {
    const token = await parts.tokens.issue();
    await parts.databaseWire.refuse();
    expectUnavailable(await redeem(token));
    expectUnavailable(await send(parts.url, `/dissemination/report/pdf/${reportId}`), null);
    await expectReadiness("unavailable", "ok");
    await parts.databaseWire.pass();
    expect((await redeem(token)).status).toBe(302);
    await expectReadiness("ok", "ok");
  });

  test("that does not answer: 503, on open and new connections", async () => {
    const token = await parts.tokens.issue();
    const fresh = await parts.startAnother();
    await parts.databaseWire.hold();
    for (const reply of await Promise.all([redeem(token), redeem(token, fresh.url)]))
      expectUnavailable(reply);
    await parts.databaseWire.pass();
    expect((await redeem(token)).status).toBe(302);
  });
});

describe("while the service waits for storage,", () => {
  /** Sends a request, and runs `act` before storage answers. */
  async function sendWhile<Answer>(
    sendIt: () => Answer,
    act: () => Promise<unknown>,
  ): Promise<Awaited<Answer>> {
    await parts.storageWire.refuse();
    await parts.storageWire.hold();
    const held = parts.storageWire.held();
    const answer = sendIt();
    await held;
    await act();
    await parts.storageWire.pass();
    return await answer;
  }

  test("a database that becomes unreachable: 503, and the token is not spent", async () => {
    const token = await parts.tokens.issue();
    const reply = await sendWhile(() => redeem(token), parts.databaseWire.refuse);
    // The service cannot know whether the database ran the statement.
    expectUnavailable(reply, "The token may have been used.");
    expect(await parts.tokens.isSpent(token)).toBe(false);
  });

  test("a database that cuts connections is queried over a new one", async () => {
    const token = await parts.tokens.issue();
    const cut = () => parts.databaseWire.refuse().then(parts.databaseWire.pass);
    expect((await sendWhile(() => redeem(token), cut)).status).toBe(302);
  });

  test("a client that disconnects does not lose its token", async () => {
    const token = await parts.tokens.issue();
    const leaving = request(`${parts.url}${downloads}/${token}`).on("error", () => {});
    const leave = () => sleep(100, leaving.destroy());
    await sendWhile(() => void leaving.end(), leave);
    await sleep(500);
    expect(await parts.tokens.isSpent(token)).toBe(false);
  });
});

async function sign(changes: Parameters<typeof describeS3>[1]) {
  const store = createS3Store(describeS3(parts.s3.port, changes));
  return new URL(String(await store.signDownload(reportId).finally(store.close)));
}

test("a signed URL has the bucket in its host unless forcePathStyle is set", async () => {
  // On machines that do not resolve names under localhost, the error contains the name.
  const nameHost = (forcePathStyle: boolean) =>
    sign({ forcePathStyle, endpoint: `http://localhost:${parts.s3.port}` }).then(
      ({ hostname }) => hostname,
      (error: Error) => ((error.cause as Error).cause as { hostname?: string }).hostname,
    );
  expect(await nameHost(false)).toBe(`${bucket}.localhost`);
  expect(await nameHost(true)).toBe("localhost");
});

test("a signed URL carries the session token, if there is one", async () => {
  const { searchParams } = await sign({ credentials: { ...credentials, sessionToken: "a session/token" } });
  expect(searchParams.get("X-Amz-Security-Token")).toBe("a session/token");
});

// As in docker-compose.yml: clients reach the report service, and only the service reaches storage.
describe("storage that clients cannot reach", () => {
  const publicEndpoint = "https://reports.example.gov";
  let url: string;
  let address: string;
  beforeAll(async () => {
    const storage = { kind: "s3", ...describeS3(parts.storageWire.port, { publicEndpoint }) } as const;
    ({ url } = await parts.startAnother({ storage }));
    const { headers } = await send(url, `${downloads}/${await parts.tokens.issue()}`);
    const { origin, pathname, search } = new URL(String(headers.location));
    expect(origin).toBe(publicEndpoint);
    address = pathname + search;
  });

  test("is relayed by the report service, at the URL that a token redirects to", async () => {
    const reply = await send(url, address);
    expect(reply).toMatchObject(pdfAnswer);
    const readable = { "access-control-allow-origin": "*" };
    expect(reply.headers).toMatchObject({
      ...securityHeaders,
      ...readable,
      "cache-control": "private, no-store",
    });
    expect(await send(url, address, { method: "OPTIONS" })).toMatchObject({ status: 204, headers: readable });
    const range = { range: "bytes=0-3" };
    expect(await send(url, address, { headers: range })).toMatchObject({ status: 206, body: "%PDF" });
  });

  test("gets no cookie or key from clients, and gives them no headers of its own", async () => {
    const secrets = { cookie: "a=1", authorization: "Bearer x", "x-api-key": "x" };
    const { status, headers } = await send(url, address, { headers: { ...secrets, "if-match": "*" } });
    expect([status, headers["x-amz-request-id"]]).toEqual([412, undefined]);
    expect(Object.keys(parts.s3.received).sort()).toEqual(["connection", "host", "if-match"]);
  });

  test.each<[string, number, (address: string) => string, method?: string]>([
    ["a changed key", 403, (it) => it.replace("reports/", "reports/../source/")],
    ["a changed signature", 403, (it) => it.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
    ["no signature", 404, (it) => it.replace(/\?.*/, "")],
    ["another folder", 403, (it) => it.replace("/reports/", "/source/")],
    ["the bucket itself", 403, () => `/${bucket}?X-Amz-Signature=0`],
    ["HEAD", 405, (it) => it, "HEAD"],
    ["PUT", 405, (it) => it, "PUT"],
  ])("is not relayed to requests with %s: %i", async (what, status, rewrite, method = "GET") => {
    parts.s3.requests = [];
    expect((await send(url, rewrite(address), { method })).status).toBe(status);
    if (!what.startsWith("a changed")) expect(parts.s3.requests).toEqual([]);
  });

  test.each([
    [400, "AuthorizationQueryParametersError", 403],
    [401, "Unauthorized", 403],
    [404, "InvalidAccessKeyId", 403],
    [404, "NoSuchKey", 404],
    [404, "NoSuchBucket", 503],
    [301, "PermanentRedirect", 503],
    [500, "InternalError", 503],
  ])("that answers %i %s to a signed URL: %i, and the log says why", async (status, code, expected) => {
    parts.s3.failure = { status, code };
    expect((await send(url, address)).status).toBe(expected);
    const file = code === "NoSuchKey" ? `,"file":"${new URL(address, url).pathname}"` : "";
    expect(parts.readLog()).toContain(`"code":"${code}","bucket":"${bucket}"${file},"msg"`);
  });

  test("that is down: 503, and the same URL works once it is back", async () => {
    await parts.storageWire.refuse();
    const refused = await send(url, address);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    await parts.storageWire.pass();
    expect((await send(url, address)).status).toBe(200);
  });
});

test("the log names the causes of outages", () => {
  for (const word of ["StorageUnavailable", "ECONNREFUSED", "storage did not answer"])
    expect(parts.readLog()).toContain(word);
});
