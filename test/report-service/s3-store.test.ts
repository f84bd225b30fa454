import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { securityHeaders } from "../../report-service/answers.ts";
import { createS3Store } from "../../report-service/s3-store.ts";
import { send } from "./http.ts";
import {
  bucket,
  credentials,
  describeS3,
  downloads,
  loggedSecrets,
  type Parts,
  pdfAnswer,
  reportId,
  startParts,
} from "./parts.ts";

let parts: Parts;
beforeAll(async () => {
  parts = await startParts();
});
afterAll(() => parts.close());

async function sign(changes: Parameters<typeof describeS3>[1]) {
  const store = createS3Store(describeS3(parts.s3.port, changes));
  return new URL(String(await store.signDownload(reportId).finally(store.close)));
}

test("a signed address has the bucket in its host unless told otherwise", async () => {
  // Where names below localhost are not resolved, the error tells the name.
  const nameHost = (forcePathStyle: boolean) =>
    sign({ forcePathStyle, endpoint: `http://localhost:${parts.s3.port}` }).then(
      ({ hostname }) => hostname,
      (error: Error) => (error.cause as { hostname?: string }).hostname,
    );
  expect(await nameHost(false)).toBe(`${bucket}.localhost`);
  expect(await nameHost(true)).toBe("localhost");
});

test("a signed address carries a session token, if there is one", async () => {
  const { searchParams } = await sign({ credentials: { ...credentials, sessionToken: "a session/token" } });
  expect(searchParams.get("X-Amz-Security-Token")).toBe("a session/token");
});

// As in docker-compose.yml: clients reach the report service, and only it reaches the storage.
describe("a storage that clients cannot reach", () => {
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

  test("is reached through the report service, by the address that a token is redeemed for", async () => {
    const reply = await send(url, address);
    expect(reply).toMatchObject(pdfAnswer);
    expect(reply.headers).toMatchObject({ ...securityHeaders, "cache-control": "private, no-store" });
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
    parts.s3.requests = [];
    expect((await send(url, rewrite(address), { method })).status).toBe(status);
    if (!what.startsWith("a changed")) expect(parts.s3.requests).toEqual([]);
  });

  test("that is out gives 503, and the same address works once it is back", async () => {
    await parts.storageWire.refuse();
    const refused = await send(url, address);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    await parts.storageWire.pass();
    expect((await send(url, address)).status).toBe(200);
  });

  test("leaves no signature in the log", () => {
    expect(parts.readLog()).toContain("storage did not answer");
    expect(parts.readLog()).not.toMatch(loggedSecrets);
  });
});
