import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
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
let url: string;

// As in docker-compose.yml: clients reach the report service, and only it reaches the storage.
beforeAll(async () => {
  const objects = { [`reports/${reportId}.pdf`]: pdf, "source/general.csv": "report_id\n" };
  server = await startS3Server({ ...credentials, bucket, objects });
  wire = await startRelay(server.port);
  parts = await startParts();
  tokens = await openTokens();
  const service = await parts.startAnother({
    kind: "s3",
    bucket,
    region: "us-east-1",
    keyPrefix: "reports/",
    endpoint: `http://127.0.0.1:${wire.port}`,
    publicEndpoint: "https://reports.example.gov",
    forcePathStyle: true,
    credentials,
  });
  url = service.url;
});
afterEach(async () => {
  server.secondsAhead = 0;
  server.requests.length = 0;
  await wire.pass();
});
afterAll(async () => {
  await tokens.close();
  await parts.close();
  await wire.close();
  await server.close();
});

/** The path and query of the signed address that a token is redeemed for. */
async function redeem(): Promise<string> {
  const { headers } = await send(url, `${downloads}/${await tokens.issue(reportId)}`);
  const { origin, pathname, search } = new URL(String(headers.location));
  expect(origin).toBe("https://reports.example.gov");
  return pathname + search;
}

describe("a storage that clients cannot reach", () => {
  test("is reached through the report service, by the address that a token is redeemed for", async () => {
    const { status, headers, body } = await send(url, await redeem());
    expect({ status, body }).toEqual({ status: 200, body: pdf });
    expect(headers).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": `attachment; filename="${reportId}.pdf"`,
      "cache-control": "private, no-store",
      "content-length": String(pdf.length),
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  test("gives a part of the file to who asks for one", async () => {
    const part = await send(url, await redeem(), { headers: { range: "bytes=0-3" } });
    expect(part).toMatchObject({ status: 206, body: "%PDF" });
  });

  test("refuses an address that is too old, or was changed", async () => {
    const address = await redeem();
    expect((await send(url, address.replace("reports/", "reports/../source/"))).status).toBe(403);
    expect(
      (
        await send(
          url,
          address.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
        )
      ).status,
    ).toBe(403);
    server.secondsAhead = 61;
    expect((await send(url, address)).status).toBe(403);
  });

  test("is not asked for what is not signed, not below reports/, or not a GET", async () => {
    const address = await redeem();
    server.requests.length = 0;
    const statuses = await Promise.all([
      send(url, address.replace(/\?.*/, "")),
      send(url, address.replace("/reports/", "/source/")),
      send(url, `/${bucket}?X-Amz-Signature=0`),
      send(url, address, { method: "HEAD" }),
      send(url, address, { method: "PUT" }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 403, 403, 405, 405]);
    expect(server.requests).toEqual([]);
  });

  test("that is out gives 503, and the same address works once it is back", async () => {
    const address = await redeem();
    await wire.refuse();
    const refused = await send(url, address);
    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(JSON.parse(refused.body).code).toBe("temporarily_unavailable");
    await wire.pass();
    expect((await send(url, address)).status).toBe(200);
  });

  test("leaves no signature in the log", () => {
    const log = parts.logs.lines.join("");
    expect(log).toContain("storage did not answer");
    expect(log).not.toMatch(/X-Amz|AKIDTEST|a\/secret/i);
  });
});
