import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { securityHeaders } from "../../shared/web/error-responses.ts";
import { query, queryValue, send as sendRequest } from "../support/target.ts";
import { type Reply, send } from "./http.ts";
import { downloads, type Parts, reportId, startParts, type TribalKey } from "./parts.ts";

const json = { ...securityHeaders, "content-type": "application/json; charset=utf-8" };
const fields = ["code", "message", "details", "hint"];

let parts: Parts;
beforeAll(async () => {
  parts = await startParts();
});
afterAll(() => parts.close());

const redeem = (token: string, options: Parameters<typeof send>[2] = {}): Promise<Reply> =>
  send(parts.url, `${downloads}/${token}`, options);

describe("the one response to every invalid token", () => {
  test("is a JSON 404 that reveals nothing about the request", async () => {
    const { status, headers, body } = await redeem(randomUUID());
    const length = { "content-length": String(body.length) };
    expect([status, headers, Object.keys(JSON.parse(body))]).toEqual([404, { ...json, ...length }, fields]);
  });

  test("is sent for an expired token, which stays unspent", async () => {
    const token = await parts.tokens.issue();
    await parts.tokens.expire(token);
    expect(await queryValue("select access.redeem_access_token($1)", [token])).toBeNull();
    expect(await redeem(token)).toEqual(await redeem(randomUUID()));
    expect(await parts.tokens.isSpent(token)).toBe(false);
  });

  const agreement = "update access.tribal_access_agreements set";
  test.each<[what: string, sql: string, of: keyof TribalKey]>([
    ["key was revoked", "select access.revoke_key($1)", "id"],
    ["key has expired", "update access.api_keys set expires_at = now() where id = $1", "id"],
    ["agreement was revoked", "select access.revoke_agreement($1)", "agreement"],
    ["agreement has ended", `${agreement} ends_on = current_date - 2 where id = $1`, "agreement"],
  ])("is sent for a token whose %s since, and the token stays unspent", async (_what, sql, of) => {
    const key = await parts.tokens.makeKey();
    const [token, other] = [await parts.tokens.issue(reportId, key), await parts.tokens.issue()];
    await query(sql, [key[of]]);
    expect(await queryValue("select access.find_report_of_token($1)", [token])).toBeNull();
    expect(await queryValue("select access.redeem_access_token($1)", [token])).toBeNull();
    expect(await redeem(token)).toEqual(await redeem(randomUUID()));
    expect(await parts.tokens.isSpent(token)).toBe(false);
    expect((await redeem(other)).status).toBe(302);
  });

  test("is sent as soon as a revocation is committed, while requests with the token arrive", async () => {
    for (let round = 0; round < 15; round += 1) {
      const key = await parts.tokens.makeKey();
      const token = await parts.tokens.issue(reportId, key);
      const statuses = async (requests: number) =>
        (await Promise.all(Array.from({ length: requests }, () => redeem(token)))).map(
          ({ status }) => status,
        );
      // In some rounds, none of these is answered before the revocation.
      const before = statuses(round % 3);
      await query("select access.revoke_key($1)", [key.id]);
      expect(await statuses(3)).toEqual([404, 404, 404]);
      const redeemed = (await before).filter((status) => status === 302).length;
      expect(redeemed).toBe((await parts.tokens.isSpent(token)) ? 1 : 0);
    }
  });

  test("is sent for nine of ten concurrent requests with one token", async () => {
    const token = await parts.tokens.issue();
    const replies = await Promise.all(Array.from({ length: 10 }, () => redeem(token)));
    expect(replies.map(({ status }) => status).sort()).toEqual([302, ...Array(9).fill(404)]);
  });

  test.each([
    ["a UUID that lacks one digit", "123e4567-e89b-42d3-a456-55664244000"],
    ["a UUID in braces", "%7B123e4567-e89b-42d3-a456-556642440000%7D"],
    ["a UUID without hyphens", "123e4567e89b42d3a456556642440000"],
    ["SQL", "'%20or%20true--"],
    ["a null character", "%00"],
    ["bytes that are not UTF-8", "%ff"],
    ["an invalid percent escape", "%zz"],
    ["10,000 characters", "a".repeat(10_000)],
    ["a UUID with a trailing slash", "123e4567-e89b-42d3-a456-556642440000/"],
    ["a path with a .. segment", "../ota/x"],
  ])("is sent for %s", async (_what, token) => {
    expect(await redeem(token)).toEqual(await redeem(randomUUID()));
  });
});

test.each([
  [404, "no_such_page", "/"],
  [404, "no_such_page", "/dissemination/report/x"],
  [401, "token_missing", downloads],
  [401, "token_missing", `${downloads}/?x`],
])("%i %s is the response to %s, which has no token", async (status, code, target) => {
  const { body, ...reply } = await send(parts.url, target);
  expect(reply).toMatchObject({ status, headers: json });
  expect([Object.keys(JSON.parse(body)), JSON.parse(body).code]).toEqual([fields, code]);
});

test.each(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"])(
  "%s gets 405 and never spends a token",
  async (method) => {
    const token = await parts.tokens.issue();
    const ofValid = await redeem(token, { method });
    expect(ofValid).toMatchObject({ status: 405, headers: { ...json, allow: "GET" } });
    for (const other of [randomUUID(), "x", "%zz", "a".repeat(200)])
      expect(await redeem(other, { method })).toEqual(ofValid);
    expect((await redeem(token)).status).toBe(302);
  },
);

describe("the log", () => {
  test("has the X-Request-Id of each response, which no client can choose", async () => {
    const { headers } = await sendRequest(
      new URL(parts.url).origin,
      `${new URL(parts.url).pathname}${downloads}/${randomUUID()}`,
      { headers: { "x-request-id": "chosen" } },
    );
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(parts.readLog()).toContain(`"request_id":"${headers["x-request-id"]}"`);
    expect(parts.readLog()).not.toContain("chosen");
  });

  test("says nothing about a request that cannot be parsed", async () => {
    const socket = connect({ port: Number(new URL(parts.url).port), host: "127.0.0.1" });
    socket.write(`GET ${downloads}/${randomUUID()} HTTP/1.1\r\nHost: x\r\n: broken\r\n\r\n`);
    const chunks: Buffer[] = await socket.toArray();
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 /);
    // A logged buffer prints as byte values, so this looks for the path's first bytes.
    expect(parts.readLog()).not.toContain([...Buffer.from(downloads)].slice(0, 5).join(","));
  });

  test("names routes, but nothing that was sent as a token", () => {
    expect(parts.readLog()).toContain(`"route":"${downloads}/:token"`);
    expect(parts.readLog()).not.toMatch(/123e4567|%zz|aaaaaaaa/i);
  });
});
