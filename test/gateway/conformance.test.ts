import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type EmbeddedGateway, startEmbeddedGateway } from "../../gateway/embedded/start-embedded-gateway.ts";

interface Case {
  id: string;
  method?: string;
  path: string;
  headers?: Record<string, string | string[]>;
  body?: string;
  from?: string;
  expect: {
    status: number;
    headers: Record<string, string>;
    retry_after: boolean;
    ratelimit_reset: boolean;
    json?: unknown;
    text?: string;
    upstream?: { method: string; url: string; headers: Record<string, string>; body: string };
  };
}

const folder = new URL("./kong-conformance/", import.meta.url);
const cases: Case[] = JSON.parse(await readFile(new URL("cases.json", folder), "utf8"));
const kongYml = await readFile(new URL("kong.yml", folder), "utf8");

/** Not recorded, says the README beside the cases; the two last are recorded as booleans. */
const LEFT_OUT =
  /^(date|server|via|x-kong-.*|connection|keep-alive|transfer-encoding|content-length|ratelimit-reset|retry-after)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * A freshly started Kong that runs kong.yml of that folder; without it the embedded gateway is tested.
 * Kong's upstream is this test's echo server on port 9900.
 */
const kongUrl = process.env.GATEWAY_CONFORMANCE_URL;

let echo: Server;
let gateway: EmbeddedGateway;
let upstreamPort: number;

beforeAll(async () => {
  echo = createServer(async (incoming, outgoing) => {
    if (incoming.url?.startsWith("/slow")) await sleep(3000);
    // The gateway has given up.
    if (incoming.destroyed) return;
    if (incoming.url === "/status/418") return void outgoing.writeHead(418).end("teapot");
    let body = "";
    for await (const chunk of incoming) body += chunk;
    const { method, url, headers } = incoming;
    outgoing.writeHead(200, {
      "content-type": "application/json; charset=utf-8",
      "content-range": "0-0/*",
    });
    outgoing.end(JSON.stringify({ method, url, headers, body }));
  });
  await new Promise<void>((resolve) => echo.listen(kongUrl ? 9900 : 0, "127.0.0.1", resolve));
  upstreamPort = (echo.address() as AddressInfo).port;
  const closedPort = await findClosedPort();
  const document = parse(
    kongYml
      .replace("127.0.0.1:9900", `127.0.0.1:${upstreamPort}`)
      .replace("127.0.0.1:9901", `127.0.0.1:${closedPort}`),
  );
  gateway = kongUrl
    ? { proxyUrl: kongUrl, close: async () => {} }
    : await startEmbeddedGateway({
        proxy: { host: "127.0.0.1", port: 0 },
        document,
        // Recorded without compression.
        gzip: false,
        logger: pino({ level: "silent" }),
      });
  // The cases count requests within one clock hour.
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 15_000) await sleep(left + 100);
});

afterAll(async () => {
  await gateway.close();
  echo.closeAllConnections();
  echo.close();
});

describe("answers as real Kong 3.9.1 did", () => {
  test.for(cases)("$id", async (recorded) => {
    const { expect: expected } = recorded;
    const answer = await send(recorded);

    expect(answer.status).toBe(expected.status);
    const listed = Object.entries(answer.headers).filter(([name]) => !LEFT_OUT.test(name));
    expect(Object.fromEntries(listed)).toEqual(withWildcards(expected.headers, gateway.proxyUrl));
    expect("retry-after" in answer.headers).toBe(expected.retry_after);
    expect("ratelimit-reset" in answer.headers).toBe(expected.ratelimit_reset);

    if (expected.text !== undefined) {
      expect(answer.body.replace(/[0-9a-f]{32}/, "<request id>")).toBe(expected.text);
    }
    if (expected.json !== undefined) {
      expect(JSON.parse(answer.body)).toEqual(
        withWildcards(expected.json as Record<string, string>, gateway.proxyUrl),
      );
    }
    if (expected.upstream !== undefined) {
      const got = JSON.parse(answer.body);
      expect(got).toMatchObject({
        ...expected.upstream,
        headers: withWildcards(expected.upstream.headers, gateway.proxyUrl),
      });
      expect(Object.keys(got.headers)).not.toContain("x-api-key");
    }
  });
});

/** Turns what varies (`<uuid>`, ports) into what it must look like. */
function withWildcards(recorded: Record<string, string>, proxyUrl: string): Record<string, unknown> {
  const entries = Object.entries(recorded).map(([name, value]) => {
    if (value === "<uuid>") return [name, expect.stringMatching(UUID)];
    if (value === "<request id>") return [name, expect.stringMatching(/^[0-9a-f]{32}$/)];
    if (name === "x-forwarded-port") return [name, new URL(proxyUrl).port];
    if (name === "host") return [name, value.replace(":9900", `:${upstreamPort}`)];
    return [name, value];
  });
  return Object.fromEntries(entries);
}

function send(recorded: Case): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const { hostname, port } = new URL(gateway.proxyUrl);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: hostname,
        port,
        method: recorded.method ?? "GET",
        path: recorded.path,
        headers: recorded.headers ?? {},
        localAddress: recorded.from ?? "127.0.0.1",
        agent: false,
      },
      async (response) => {
        let body = "";
        for await (const chunk of response) body += chunk;
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      },
    );
    outgoing.once("error", reject);
    outgoing.end(recorded.body);
  });
}

/** A port on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
