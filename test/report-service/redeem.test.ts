import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raceRedeemers } from "../../bench/torture/race-redeemers.ts";
import { openTokens, type Tokens } from "./database.ts";
import { type Reply, send } from "./http.ts";
import { downloads, type Parts, pdf, reportId, startParts } from "./parts.ts";

const hardened = {
  "x-request-id": "a-test",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};
const json = { ...hardened, "content-type": "application/json; charset=utf-8" };

let parts: Parts;
let tokens: Tokens;
const used: string[] = [];

beforeAll(async () => {
  parts = await startParts();
  tokens = await openTokens();
});
afterAll(async () => {
  await tokens.close();
  await parts.close();
});

async function issue(report = reportId): Promise<string> {
  const token = await tokens.issue(report);
  used.push(token);
  return token;
}

function redeem(token: string, options: Parameters<typeof send>[2] = {}): Promise<Reply> {
  return send(parts.url, `${downloads}/${token}`, options);
}

/** The one answer to everything that is not a valid token. */
async function notFound(): Promise<Reply> {
  return redeem(randomUUID());
}

describe("a valid token", () => {
  test("is redirected to the stored PDF by an address that lives for 60 s at most", async () => {
    const token = await issue();
    const { status, headers, body } = await redeem(token);
    expect({ status, body }).toEqual({ status: 302, body: "" });
    expect(headers).toMatchObject(hardened);
    const location = new URL(String(headers.location));
    const secondsLeft = Number(location.searchParams.get("expires")) - Date.now() / 1000;
    expect(secondsLeft).toBeGreaterThan(30);
    expect(secondsLeft).toBeLessThanOrEqual(60);

    const file = await send(location.origin, location.pathname + location.search);
    expect(file.status).toBe(200);
    expect(file.headers).toMatchObject({
      "content-type": "application/pdf",
      "content-disposition": `attachment; filename="${reportId}.pdf"`,
      "content-length": String(pdf.length),
      "cache-control": "private, no-store",
    });
    expect(file.body).toBe(pdf);
    expect(await tokens.isSpent(token)).toBe(true);
  });

  test("is redirected once when 200 requests come together", async () => {
    const { url } = await parts.startAnother();
    const appUrls = [parts.url, url];
    const { faults, figures } = await raceRedeemers({ appUrls, tokens: 3, redeemers: 200, issue });
    expect(faults, figures).toEqual([]);
  });
});

describe("the answer 404", () => {
  test("is JSON that tells nothing about the request", async () => {
    const { status, headers, body } = await notFound();
    expect(status).toBe(404);
    expect(headers).toEqual({ ...json, "content-length": String(body.length) });
    expect(JSON.parse(body)).toEqual({
      code: expect.any(String),
      message: expect.any(String),
      details: expect.any(String),
      hint: expect.any(String),
    });
  });

  test("is given to an expired token, which stays unspent", async () => {
    const token = await issue();
    await tokens.expire(token);
    expect(await redeem(token)).toEqual(await notFound());
    expect(await tokens.isSpent(token)).toBe(false);
  });

  test("is given where there is no file, and the token works once there is", async () => {
    const late = "2024-01-CENSUS-0000000002";
    const token = await issue(late);
    expect(await redeem(token)).toEqual(await notFound());
    expect(await tokens.isSpent(token)).toBe(false);
    await writeFile(path.join(parts.directory, `${late}.pdf`), pdf, "latin1");
    expect((await redeem(token)).status).toBe(302);
  });

  test("is given to a token of a report whose ID could lead out of the directory", async () => {
    const token = await issue("../../etc/passwd");
    expect(await redeem(token)).toEqual(await notFound());
    expect(await tokens.isSpent(token)).toBe(false);
  });

  test.each([
    ["a word", "x"],
    ["a UUID with one digit less", "123e4567-e89b-42d3-a456-55664244000"],
    ["a UUID with one digit more", "123e4567-e89b-42d3-a456-5566424400000"],
    ["a UUID in braces", "%7B123e4567-e89b-42d3-a456-556642440000%7D"],
    ["a UUID without hyphens", "123e4567e89b42d3a456556642440000"],
    ["SQL", "'%20or%20true--"],
    ["a null character", "%00"],
    ["bytes that are not UTF-8", "%ff"],
    ["a broken escape", "%zz"],
    ["10,000 characters", "a".repeat(10_000)],
    ["a UUID with a slash behind it", "123e4567-e89b-42d3-a456-556642440000/"],
    ["a longer path", "123e4567-e89b-42d3-a456-556642440000/x"],
    ["a path that climbs", "../ota/x"],
  ])("is given to %s", async (_what, token) => {
    expect(await redeem(token)).toEqual(await notFound());
  });

  test("names a page, and no download, for any other path", async () => {
    for (const path of ["/", "/no/such/page", "/dissemination/report/x"]) {
      const { status, headers, body } = await send(parts.url, path);
      expect({ status, headers }).toMatchObject({ status: 404, headers: json });
      expect(JSON.parse(body)).toMatchObject({ code: "no_such_page", message: "There is no such page." });
    }
  });
});

test.each([downloads, `${downloads}/`, `${downloads}?x`, `${downloads}/?x`])(
  "%s has no token and is answered 401",
  async (target) => {
    const { status, headers, body } = await send(parts.url, target);
    expect(status).toBe(401);
    expect(headers).toMatchObject({ ...json, "www-authenticate": 'OneTimeToken realm="report"' });
    expect(Object.keys(JSON.parse(body))).toEqual(["code", "message", "details", "hint"]);
  },
);

describe("a method other than GET", () => {
  const methods = ["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"];

  test.each(methods)("%s is answered 405 and never spends a token", async (method) => {
    const token = await issue();
    const ofValid = await redeem(token, { method });
    expect(ofValid.status).toBe(405);
    expect(ofValid.headers).toMatchObject({ ...json, allow: "GET" });
    expect(ofValid.body === "").toBe(method === "HEAD");
    for (const other of [randomUUID(), "x", "%zz", "a".repeat(200)]) {
      expect(await redeem(other, { method })).toEqual(ofValid);
    }
    expect(await redeem(token)).toMatchObject({ status: 302 });
  });
});

describe("health", () => {
  test("/healthz and /readyz say ok", async () => {
    const alive = await send(parts.url, "/healthz");
    expect({ status: alive.status, body: JSON.parse(alive.body) }).toEqual({
      status: 200,
      body: { status: "ok" },
    });
    expect(alive.headers).toMatchObject(hardened);
    const ready = await send(parts.url, "/readyz");
    expect({ status: ready.status, body: JSON.parse(ready.body) }).toEqual({
      status: 200,
      body: { database: "ok", storage: "ok" },
    });
  });
});

describe("the log", () => {
  test("keeps a sane X-Request-Id and makes one in place of another", async () => {
    const token = await issue();
    const send = async (id: string) =>
      (await redeem(token, { headers: { "x-request-id": id } })).headers["x-request-id"];
    expect(await send("from-the-gateway.1")).toBe("from-the-gateway.1");
    const odd = ["not sane", token, "x-".repeat(32), `individual_${"a1".repeat(20)}`];
    for (const id of odd) expect(await send(id)).toMatch(/^[0-9a-f-]{36}$/);
    const ids = parts.logs.lines.map((line) => JSON.parse(line).request_id);
    expect(ids).toContain("from-the-gateway.1");
    for (const id of odd) expect(ids).not.toContain(id);
  });

  test("says nothing of a request that cannot be read", async () => {
    const token = await issue();
    const socket = connect({ port: Number(new URL(parts.url).port), host: "127.0.0.1" });
    socket.write(`GET ${downloads}/${token} HTTP/1.1\r\nHost: x\r\n: broken\r\n\r\n`);
    const chunks: Buffer[] = await socket.toArray();
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 /);
    // Bytes that are logged as numbers: the first ones of the path.
    expect(parts.logs.lines.join("")).not.toContain([...Buffer.from(downloads)].slice(0, 5).join(","));
  });

  test("names routes, and no token, no address and no secret", () => {
    const log = parts.logs.lines.join("");
    expect(log).toContain(`"route":"${downloads}/:token"`);
    expect(log).toContain('"status":302');
    expect(used.length).toBeGreaterThan(15);
    for (const token of used) expect(log.toLowerCase()).not.toContain(token);
    expect(log).not.toMatch(/signature|expires=|123e4567|%zz|aaaaaaaa|0123456789abcdef/i);
  });
});
