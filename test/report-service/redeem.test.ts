import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { raceRedeemers } from "../../bench/torture/race-redeemers.ts";
import { securityHeaders } from "../../report-service/answers.ts";
import { type Reply, send } from "./http.ts";
import { downloads, loggedSecrets, type Parts, startParts } from "./parts.ts";

const hardened = { ...securityHeaders, "x-request-id": "a-test" };
const json = { ...hardened, "content-type": "application/json; charset=utf-8" };
const fields = ["code", "message", "details", "hint"];

let parts: Parts;
beforeAll(async () => {
  parts = await startParts();
});
afterAll(() => parts.close());

const redeem = (token: string, options: Parameters<typeof send>[2] = {}): Promise<Reply> =>
  send(parts.url, `${downloads}/${token}`, options);
/** The one answer to everything that is not a valid token. */
const notFound = () => redeem(randomUUID());

test("a valid token is redirected once when 200 requests come together", async () => {
  const appUrls = [parts.url, (await parts.startAnother()).url];
  const { issue } = parts.tokens;
  const { faults, figures } = await raceRedeemers({ appUrls, tokens: 3, redeemers: 200, issue });
  expect(faults, figures).toEqual([]);
});

describe("the answer 404", () => {
  test("is JSON that tells nothing about the request", async () => {
    const { status, headers, body } = await notFound();
    expect({ status, headers }).toEqual({
      status: 404,
      headers: { ...json, "content-length": String(body.length) },
    });
    expect(Object.keys(JSON.parse(body))).toEqual(fields);
  });

  test("is given to an expired token, which stays unspent", async () => {
    const token = await parts.tokens.issue();
    await parts.tokens.expire(token);
    expect(await redeem(token)).toEqual(await notFound());
    expect(await parts.tokens.isSpent(token)).toBe(false);
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
});

test.each([
  [404, "no_such_page", "/"],
  [404, "no_such_page", "/dissemination/report/x"],
  [401, "token_missing", downloads],
  [401, "token_missing", `${downloads}/?x`],
])("%i %s answers %s, which has no token", async (status, code, target) => {
  const reply = await send(parts.url, target);
  expect(reply).toMatchObject({ status, headers: json });
  expect(Object.keys(JSON.parse(reply.body))).toEqual(fields);
  expect(JSON.parse(reply.body).code).toBe(code);
  if (status === 401) expect(reply.headers["www-authenticate"]).toBe('OneTimeToken realm="report"');
});

test.each(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"])(
  "%s is answered 405 and never spends a token",
  async (method) => {
    const token = await parts.tokens.issue();
    const ofValid = await redeem(token, { method });
    expect(ofValid).toMatchObject({ status: 405, headers: { ...json, allow: "GET" } });
    expect(ofValid.body === "").toBe(method === "HEAD");
    for (const other of [randomUUID(), "x", "%zz", "a".repeat(200)]) {
      expect(await redeem(other, { method })).toEqual(ofValid);
    }
    expect((await redeem(token)).status).toBe(302);
  },
);

test("/healthz says that the process runs", async () => {
  const reply = await send(parts.url, "/healthz");
  expect(reply).toMatchObject({ status: 200, body: '{"status":"ok"}', headers: hardened });
});

describe("the log", () => {
  test("keeps a sane X-Request-Id and replaces any other", async () => {
    const token = await parts.tokens.issue();
    const sendId = async (id: string) =>
      (await redeem(token, { headers: { "x-request-id": id } })).headers["x-request-id"];
    expect(await sendId("from-the-gateway.1")).toBe("from-the-gateway.1");
    const odd = ["not sane", token, "x-".repeat(32), `individual_${"a1".repeat(20)}`];
    for (const id of odd) expect(await sendId(id)).toMatch(/^[0-9a-f-]{36}$/);
    const ids = parts.log.map((line) => JSON.parse(line).request_id);
    expect(ids).toContain("from-the-gateway.1");
    for (const id of odd) expect(ids).not.toContain(id);
  });

  test("says nothing of a request that cannot be read", async () => {
    const token = await parts.tokens.issue();
    const socket = connect({ port: Number(new URL(parts.url).port), host: "127.0.0.1" });
    socket.write(`GET ${downloads}/${token} HTTP/1.1\r\nHost: x\r\n: broken\r\n\r\n`);
    const chunks: Buffer[] = await socket.toArray();
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 /);
    // Bytes that are logged as numbers: the first ones of the path.
    expect(parts.log.join("")).not.toContain([...Buffer.from(downloads)].slice(0, 5).join(","));
  });

  test("names routes, and no token, no address and no secret", () => {
    const log = parts.log.join("");
    expect(log).toContain(`"route":"${downloads}/:token"`);
    expect(log).toContain('"status":302');
    expect(parts.tokens.issued.length).toBeGreaterThan(10);
    for (const token of parts.tokens.issued) expect(log.toLowerCase()).not.toContain(token);
    expect(log).not.toMatch(loggedSecrets);
    expect(log).not.toMatch(/123e4567|%zz|aaaaaaaa/i);
  });
});
