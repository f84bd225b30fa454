import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { gatewayToken, readKongYml } from "../gateways.ts";
import { keys } from "../issued-keys.ts";
import { configFor, createSignal, send, sendRaw, startGateway, startUpstream } from "./support.ts";

describe("routes", () => {
  test("are looked for by the normalized path, which the upstream is sent", async () => {
    const upstream = await startUpstream((incoming, response) => response.end(incoming.url));
    const gateway = await startGateway({ config: configFor(upstream) });
    for (const [sent, expected] of [
      ["/x/../a%2Fb/%7e%20/./c%c3%a9", "/a%2Fb/~%20/c%C3%A9"],
      ["/a/b?x=%zz&y=%C3%A9&", "/a/b?x=%zz&y=%C3%A9&"],
      ["//a//?", "/a/?"],
    ] as const) {
      expect((await send(gateway, sent)).body.toString()).toBe(expected);
    }
    expect((await send(gateway, "/%ff")).status).toBe(404);
  });

  test("that ask for headers go first", async () => {
    const upstream = await startUpstream((incoming, response) => response.end(incoming.url));
    const limit = (day: number) => {
      return { plugins: [{ name: "rate-limiting", config: { day, limit_by: "ip", policy: "local" } }] };
    };
    const routes = [
      { name: "all", paths: ["/"], ...limit(100) },
      { name: "tier", paths: ["/"], headers: { "X-Tier": ["Gold", "silver"] }, ...limit(300) },
    ];
    const gateway = await startGateway({ config: configFor(upstream, [], { routes }) });
    const ask = async (path: string, tier: string) =>
      (await send(gateway, path, { headers: { "x-tier": tier } })).headers["x-ratelimit-limit-day"];
    expect(await ask("/b", "none")).toBe("100");
    expect(await ask("/a", "gold")).toBe("300");
    expect(await ask("/a", "SILVER")).toBe("300");
  });

  test("are not looked for when the request is malformed, or its first line longer than 32 KB", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const env = { POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken };
    const gateway = await startGateway({ config: await readKongYml(), env });
    for (const target of ["/a b", "/\x7f", "/\xff"]) {
      const { status, body } = await sendRaw(gateway, target);
      expect([status, body.toString()]).toEqual([400, expect.stringContaining('{"code":"bad_request"')]);
      expect(body.toString()).toContain("Access-Control-Allow-Origin: *");
    }
    // A client takes a body of HEAD for what the server says next.
    const head = await sendRaw(gateway, "/a b", "HEAD");
    expect([head.status, head.body.toString().endsWith("\r\n\r\n")]).toEqual([400, true]);
    const headers = { "x-api-key": keys.standard };
    expect((await send(gateway, `/?x=eq.${"a".repeat(15_000)}`, { headers })).status).toBe(200);
    expect((await send(gateway, `/?x=eq.${"a".repeat(33_000)}`, { headers })).status).toBe(414);
  });
});

describe("errors of the upstream", () => {
  test("are 502 for one that refuses connections, and 503 for an unknown host", async () => {
    for (const [url, status] of [
      ["http://127.0.0.1:1", 502],
      ["http://nowhere.invalid", 503],
    ] as const) {
      const gateway = await startGateway({ config: configFor(url) });
      expect((await send(gateway, "/")).status).toBe(status);
    }
  });

  test("do not reach a client whose kept connection the upstream closed", async () => {
    let requests = 0;
    const upstream = await startUpstream((incoming, response) => {
      if (++requests === 2) incoming.socket.destroy();
      else response.end("ok");
    });
    const gateway = await startGateway({ config: configFor(upstream) });
    expect((await send(gateway, "/")).status).toBe(200);
    expect((await send(gateway, "/")).status).toBe(200);
    expect(requests).toBe(3);
  });

  test.for<[method: string, after: number, asked: number]>([
    ["GET", 0, 3],
    ["GET", 1_100, 1],
    ["POST", 0, 1],
  ])("a %s that is broken off after %i ms is sent %i times", async ([method, after, asked]) => {
    let count = 0;
    const upstream = await startUpstream((incoming) => {
      count += 1;
      setTimeout(() => incoming.destroy(), after);
    });
    const gateway = await startGateway({ config: configFor(upstream, [], { retries: 2 }) });
    const { status } = await send(gateway, "/", { method });
    expect([status, count]).toEqual([502, asked]);
  });
});

test("closing lets a request in flight finish and takes no other", async () => {
  const arrived = createSignal();
  const upstream = await startUpstream((_, response) => {
    arrived.resolve();
    setTimeout(() => response.end("late"), 300);
  });
  const gateway = await startGateway({ config: configFor(upstream) });
  const answer = send(gateway, "/");
  await arrived.promise;
  const closed = gateway.close();
  await expect(send(gateway, "/")).rejects.toThrow("ECONNREFUSED");
  expect((await answer).body.toString()).toBe("late");
  await closed;
});

test("a taken port rejects with the listener's own error", async () => {
  const config = configFor("http://127.0.0.1:1");
  const { port } = new URL((await startGateway({ config })).url);
  await expect(startGateway({ config, port: Number(port) })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("the log has one line a request and no key in it", async () => {
  const lines: string[] = [];
  const upstream = await startUpstream((_, response) => response.end());
  const gateway = await startGateway({
    config: await readKongYml(),
    env: { POSTGREST_URL: upstream, GATEWAY_TOKEN: gatewayToken },
    logger: pino({}, new Writable({ write: (line, _, done) => done(void lines.push(String(line))) })),
  });
  const key = keys.issuedEarlier;
  const headers = { "x-api-key": key };
  await send(gateway, `/general?limit=1&api_key=${key}`);
  await send(gateway, `/general?API%5FKEY=${key}`, { headers: { ...headers, authorization: key } });
  await send(gateway, `/${key}`, { headers });
  await send(gateway, "/general", { headers: { ...headers, "x-request-id": key, referer: key } });
  await send(gateway, "/general", { method: "TRACE", headers: { "x-request-id": key } });
  await send(gateway, "/general", { headers: { "x-request-id": "mine-1" } });
  await expect.poll(() => lines.length).toBe(6);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 30,
    request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    kong_request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    method: "GET",
    path: "/general",
    status: 200,
    durationMs: expect.any(Number),
  });
  expect(JSON.parse(lines[2] ?? "").path).toBe("-");
  expect(JSON.parse(lines[5] ?? "").request_id).toBe("mine-1");
  expect(lines.join("")).not.toContain(key);
  expect(lines.join("")).not.toContain(gatewayToken);
});
