import { rename } from "node:fs/promises";
import { request } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openTokens, type Tokens } from "./database.ts";
import { type Reply, send } from "./http.ts";
import { downloads, type Parts, reportId, startParts } from "./parts.ts";

let parts: Parts;
let tokens: Tokens;

beforeAll(async () => {
  parts = await startParts();
  tokens = await openTokens();
});
afterEach(async () => {
  await parts.storageWire.pass();
  await parts.databaseWire.pass();
});
afterAll(async () => {
  await tokens.close();
  await parts.close();
});

function redeem(token: string, url = parts.url): Promise<Reply> {
  return send(url, `${downloads}/${token}`);
}

function expectUnavailable({ status, headers, body }: Reply): void {
  expect(status).toBe(503);
  expect(headers).toMatchObject({
    "retry-after": "5",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-type": "application/json; charset=utf-8",
  });
  expect(Object.keys(JSON.parse(body))).toEqual(["code", "message", "details", "hint"]);
}

async function expectReadiness(status: number, body: Record<string, string>): Promise<void> {
  const ready = await send(parts.url, "/readyz");
  expect({ status: ready.status, body: JSON.parse(ready.body) }).toEqual({ status, body });
}

describe("storage that is out", () => {
  const outages: [string, () => Promise<() => Promise<void>>][] = [
    [
      "refuses connections",
      async () => {
        await parts.storageWire.refuse();
        return () => parts.storageWire.pass();
      },
    ],
    [
      "does not answer",
      async () => {
        await parts.storageWire.hold();
        return () => parts.storageWire.pass();
      },
    ],
    [
      "answers 500, since its directory is gone",
      async () => {
        await rename(parts.directory, `${parts.directory}.gone`);
        return () => rename(`${parts.directory}.gone`, parts.directory);
      },
    ],
  ];

  test.each(outages)(
    "and %s costs no token: 503, and 302 once it is back",
    async (_how, breakStorage) => {
      const token = await tokens.issue(reportId);
      const repair = await breakStorage();
      try {
        const start = Date.now();
        expectUnavailable(await redeem(token));
        expect(Date.now() - start).toBeLessThan(4000);
        expect(await tokens.isSpent(token)).toBe(false);
        await expectReadiness(503, { database: "ok", storage: "unavailable" });
      } finally {
        await repair();
      }
      expect(await redeem(token)).toMatchObject({ status: 302 });
      await expectReadiness(200, { database: "ok", storage: "ok" });
    },
    20_000,
  );

  test("and denies access costs no token", async () => {
    const token = await tokens.issue(reportId);
    const stranger = await parts.startAnother({ kind: "local", secret: "another secret, of 32 characters" });
    expectUnavailable(await redeem(token, stranger.url));
    expect(await redeem(token)).toMatchObject({ status: 302 });
  });
});

describe("a database that is out", () => {
  test("and refuses connections: 503, and 302 once it is back", async () => {
    const token = await tokens.issue(reportId);
    await parts.databaseWire.refuse();
    expectUnavailable(await redeem(token));
    expectUnavailable(await send(parts.url, `/dissemination/report/pdf/${reportId}`));
    await expectReadiness(503, { database: "unavailable", storage: "ok" });
    await parts.databaseWire.pass();
    expect(await redeem(token)).toMatchObject({ status: 302 });
    await expectReadiness(200, { database: "ok", storage: "ok" });
  });

  test("and does not answer: 503 in bounded time, over a connection that is open and over a new one", async () => {
    const token = await tokens.issue(reportId);
    const fresh = await parts.startAnother();
    await parts.databaseWire.hold();
    const start = Date.now();
    const replies = await Promise.all([redeem(token), redeem(token, fresh.url)]);
    for (const reply of replies) expectUnavailable(reply);
    expect(Date.now() - start).toBeLessThan(8000);
    await parts.databaseWire.pass();
    expect(await redeem(token)).toMatchObject({ status: 302 });
  });

  test("and goes away while storage is asked: 503, and the token is not spent", async () => {
    const token = await tokens.issue(reportId);
    await parts.storageWire.refuse();
    await parts.storageWire.hold();
    const held = parts.storageWire.held();
    const reply = redeem(token);
    await held;
    await parts.databaseWire.refuse();
    await parts.storageWire.pass();
    const answer = await reply;
    expectUnavailable(answer);
    // The service cannot know.
    expect(JSON.parse(answer.body).details).toBe("The token may have been used up.");
    expect(await tokens.isSpent(token)).toBe(false);
    await parts.databaseWire.pass();
    expect(await redeem(token)).toMatchObject({ status: 302 });
  });

  test("and cuts connections while storage is asked is asked over a new one", async () => {
    const token = await tokens.issue(reportId);
    await parts.storageWire.refuse();
    await parts.storageWire.hold();
    const held = parts.storageWire.held();
    const reply = redeem(token);
    await held;
    await parts.databaseWire.refuse();
    await parts.databaseWire.pass();
    await parts.storageWire.pass();
    expect(await reply).toMatchObject({ status: 302 });
  });
});

test("a client that leaves while storage is asked does not lose its token", async () => {
  const token = await tokens.issue(reportId);
  await parts.storageWire.refuse();
  await parts.storageWire.hold();
  const held = parts.storageWire.held();
  const leaving = request(`${parts.url}${downloads}/${token}`);
  leaving.on("error", () => {});
  leaving.end();
  await held;
  leaving.destroy();
  await new Promise((resolve) => setTimeout(resolve, 100));
  await parts.storageWire.pass();
  expect(await redeem(token)).toMatchObject({ status: 302 });
});

test("of two requests of one token that wait for storage, one is answered 302", async () => {
  const token = await tokens.issue(reportId);
  await parts.storageWire.refuse();
  await parts.storageWire.hold();
  const held = parts.storageWire.held();
  const replies = [redeem(token), redeem(token)];
  await held;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await parts.storageWire.pass();
  const statuses = (await Promise.all(replies)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([302, 404]);
});

test("the log of outages names causes, and no token and no address", () => {
  const log = parts.logs.lines.join("");
  for (const word of ["ECONNREFUSED", "due to timeout", "The storage server answered 403"]) {
    expect(log).toContain(word);
  }
  expect(log).not.toMatch(/[?&]expires=|signature=|0123456789abcdef/);
});
