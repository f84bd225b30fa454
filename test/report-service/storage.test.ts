import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type Reply, send } from "./http.ts";
import { downloads, loggedSecrets, type Parts, pdf, reportId, startParts, storageKinds } from "./parts.ts";

// What holds for both kinds of storage: how files are handed out, and what an outage costs.

const hungReport = "2023-06-GSAFAC-0000000009";
let parts: Parts;
const redeem = (token: string, url = parts.url): Promise<Reply> => send(url, `${downloads}/${token}`);

function follow({ headers }: Reply): Promise<Reply> {
  const { origin, pathname, search } = new URL(String(headers.location));
  return send(origin, pathname + search);
}

function expectUnavailable({ status, headers, body }: Reply, details = "The token was not used up."): void {
  const json = "application/json; charset=utf-8";
  expect({ status, headers }).toMatchObject({
    status: 503,
    headers: { "retry-after": "5", "cache-control": "no-store", "content-type": json },
  });
  expect(JSON.parse(body)).toMatchObject({ code: "temporarily_unavailable", details });
}

async function expectReadiness(database: string, storage: string): Promise<void> {
  const { status, body } = await send(parts.url, "/readyz");
  const isReady = database === "ok" && storage === "ok";
  expect([status, JSON.parse(body)]).toEqual([isReady ? 200 : 503, { database, storage }]);
}

/** Redeems a token, and cuts the wire to storage until `meanwhile` is done. */
async function redeemWhile(meanwhile: () => Promise<unknown>, start: () => unknown): Promise<void> {
  await parts.storageWire.refuse();
  await parts.storageWire.hold();
  const held = parts.storageWire.held();
  start();
  await held;
  await meanwhile();
  await parts.storageWire.pass();
}

describe.each(storageKinds)("with storage of the kind %s", (kind) => {
  beforeAll(async () => {
    parts = await startParts(kind);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await parts.storageWire.pass();
    await parts.databaseWire.pass();
  });
  afterAll(() => parts.close());

  test("a token is redirected to the PDF, by an address that lives for less than a minute", async () => {
    const redirect = await redeem(await parts.tokens.issue());
    expect(await follow(redirect)).toMatchObject({
      status: 200,
      body: pdf,
      headers: {
        "content-type": "application/pdf",
        "content-disposition": `attachment; filename="${reportId}.pdf"`,
        "content-length": String(pdf.length),
        "cache-control": "private, no-store",
      },
    });
    const now = Date.now();
    const clock = vi.spyOn(Date, "now");
    for (const [seconds, status] of [
      [45, 200],
      [60, 403],
    ] as const) {
      clock.mockReturnValue(now + seconds * 1000);
      expect((await follow(redirect)).status).toBe(status);
    }
  });

  test("a token works as soon as there is a file", async () => {
    const late = "2024-01-CENSUS-0000000002";
    const token = await parts.tokens.issue(late);
    expect((await redeem(token)).status).toBe(404);
    await parts.storage.add(late);
    expect((await follow(await redeem(token))).body).toBe(pdf);
  });

  test("a token of a report whose ID leads out of its folder stays unspent", async () => {
    const token = await parts.tokens.issue("../../etc/passwd");
    expect([(await redeem(token)).status, await parts.tokens.isSpent(token)]).toEqual([404, false]);
  });

  const outages: [string, () => Promise<unknown>][] = [
    ["refuses connections", () => parts.storageWire.refuse()],
    ["does not answer", () => parts.storageWire.hold()],
    ["answers 500", () => parts.storage.fail()],
  ];
  test.each(outages)(
    "storage that %s costs no token: 503, and 302 once it is back",
    async (_, breakStorage) => {
      const token = await parts.tokens.issue();
      const repair = await breakStorage();
      const start = Date.now();
      expectUnavailable(await redeem(token));
      expect(Date.now() - start).toBeLessThan(4500);
      expect(await parts.tokens.isSpent(token)).toBe(false);
      await expectReadiness("ok", "unavailable");
      if (typeof repair === "function") await repair();
      await parts.storageWire.pass();
      expect((await follow(await redeem(token))).body).toBe(pdf);
      await expectReadiness("ok", "ok");
    },
  );

  test("storage that denies access costs no token", async () => {
    const token = await parts.tokens.issue();
    const stranger = await parts.startAnother(parts.storage.describeStranger(parts.storageUrl));
    expectUnavailable(await redeem(token, stranger.url));
    expect((await redeem(token)).status).toBe(302);
  });

  test("storage that hangs for 100 tokens delays no other token, and spends none of the 100", async () => {
    await parts.storage.add(hungReport);
    const proxy = createServer(({ method, url, headers }, response) => {
      if (url?.includes(hungReport)) return;
      const at = { host: "127.0.0.1", port: parts.storage.port, method, path: url, headers };
      const passed = request(at, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      passed.end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { url } = await parts.startAnother(parts.storage.describe(address));
    const hung = await Promise.all(Array.from({ length: 100 }, () => parts.tokens.issue(hungReport)));
    const others = await Promise.all(Array.from({ length: 20 }, () => parts.tokens.issue()));
    let isOver = false;
    const waiting = Promise.all(hung.map((token) => redeem(token, url))).finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const replies = await Promise.all(others.map((token) => redeem(token, url)));
    expect(isOver).toBe(false);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([302]));
    for (const reply of await waiting) expectUnavailable(reply);
    expect(await Promise.all(hung.map(parts.tokens.isSpent))).not.toContain(true);
    proxy.closeAllConnections();
    proxy.close();
  });

  test("the log names causes, and no token, no address and no secret", () => {
    const log = parts.log.join("");
    for (const word of ["StorageUnavailable", "ECONNREFUSED"]) expect(log).toContain(word);
    expect(log).not.toMatch(loggedSecrets);
    for (const token of parts.tokens.issued) expect(log).not.toContain(token);
  });

  if (kind !== "disk") return;

  test("a database that refuses connections: 503, and 302 once it is back", async () => {
    const token = await parts.tokens.issue();
    await parts.databaseWire.refuse();
    expectUnavailable(await redeem(token));
    expect((await send(parts.url, `/dissemination/report/pdf/${reportId}`)).status).toBe(503);
    await expectReadiness("unavailable", "ok");
    await parts.databaseWire.pass();
    expect((await redeem(token)).status).toBe(302);
    await expectReadiness("ok", "ok");
  });

  test("a database that does not answer: 503 in bounded time, over open and new connections", async () => {
    const token = await parts.tokens.issue();
    const fresh = await parts.startAnother();
    await parts.databaseWire.hold();
    const start = Date.now();
    for (const reply of await Promise.all([redeem(token), redeem(token, fresh.url)]))
      expectUnavailable(reply);
    expect(Date.now() - start).toBeLessThan(8000);
    await parts.databaseWire.pass();
    expect((await redeem(token)).status).toBe(302);
  });

  test("a database that goes away while storage is asked: 503, and the token is not spent", async () => {
    const token = await parts.tokens.issue();
    let reply: Promise<Reply> | undefined;
    await redeemWhile(parts.databaseWire.refuse, () => {
      reply = redeem(token);
    });
    // The service cannot know.
    expectUnavailable((await reply) as Reply, "The token may have been used up.");
    expect(await parts.tokens.isSpent(token)).toBe(false);
  });

  test("a database that cuts connections while storage is asked is asked over a new one", async () => {
    const token = await parts.tokens.issue();
    let reply: Promise<Reply> | undefined;
    const cut = () => parts.databaseWire.refuse().then(() => parts.databaseWire.pass());
    await redeemWhile(cut, () => {
      reply = redeem(token);
    });
    expect(await reply).toMatchObject({ status: 302 });
  });

  test("a client that leaves while storage is asked does not lose its token", async () => {
    const token = await parts.tokens.issue();
    const leaving = request(`${parts.url}${downloads}/${token}`);
    leaving.on("error", () => {});
    const leave = async () => {
      leaving.destroy();
      await new Promise((resolve) => setTimeout(resolve, 100));
    };
    await redeemWhile(leave, () => leaving.end());
    expect((await redeem(token)).status).toBe(302);
  });
});
