import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { createConnectionPool } from "../../gateway/embedded/forward-request.ts";
import { runLua } from "../../gateway/embedded/lua-state.ts";
import { handleRequest } from "../../gateway/embedded/proxy.ts";
import { readConfig } from "../../gateway/embedded/read-config.ts";
import { runScript } from "../support/run-stack.ts";
import {
  configFor,
  openRequest,
  readKongYml,
  send,
  sendBytes,
  startEmbedded,
  startUpstream,
  useGateways,
} from "./gateways.ts";

// What Kong's recorded responses (conformance.test.ts) cannot show: connections, timing, configuration and errors.

useGateways();
const nowhere = "http://127.0.0.1:1";
const env = { POSTGREST_URL: nowhere, GATEWAY_TOKEN: "a token" };
const limit = (config: object) => ({
  name: "rate-limiting",
  config: { policy: "local", limit_by: "header", header_name: "X-Client", ...config },
});
type Plugins = Parameters<typeof configFor>[1];

/** Starts a gateway in front of an upstream that runs this listener. Returns the gateway's URL. */
const start = async (listener: RequestListener, plugins: Plugins = [], service: object = {}) =>
  (await startEmbedded(configFor(await startUpstream(listener), plugins, service), "")).url;

/** Opens a request without sending it. The caller writes the body and ends it. */
const open = (url: string, options = {}) => openRequest(url, "/", options).on("error", () => {});
const respond = async (client: ReturnType<typeof open>): Promise<IncomingMessage> =>
  (await once(client, "response"))[0];

describe("npm run gateway:embedded", () => {
  const anyPorts = ["--port", "0", "--metrics-port", "0"];
  const run = (args: string[], environment = {}) => runScript("gateway-embedded.ts", args, environment);

  test("names the option or variable that is wrong", async () => {
    const { port } = new URL((await startEmbedded(configFor(nowhere), "")).url);
    const errors: [string[], string, object?][] = [
      [["--config", "/none.yml", ...anyPorts], "--config /none.yml: no such file"],
      [anyPorts, "POSTGREST_URL is not set.", { GATEWAY_TOKEN: "a token" }],
      [["--port", "x"], "Enter a port number"],
      [["--metrics-port", "0", "--port", port], `Port ${port} is in use.`],
      [["--port", "0", "--metrics-port", port], `Port ${port} is taken. Set --metrics-port`],
      [[...anyPorts, "--trusted-ips", "10.0.0.0/99"], '"10.0.0.0/99" is not an IP address'],
    ];
    for (const [args, message, environment = env] of errors) {
      const { exited, output } = run(args, environment);
      expect([await exited, output()]).toEqual([1, expect.stringContaining(message)]);
    }
  });
});

describe("the configuration", () => {
  test.each([
    ["plugins[0].name", [{ name: "acl", config: {} }], {}],
    ['"path"', [limit({ day: 1, path: "/" })], {}],
    ["plugins[0].config.limit_by", [limit({ day: 1, limit_by: "consumer" })], {}],
    ["config.policy", [limit({ day: 1, policy: "redis" })], {}],
    ['"tls_verify"', [], { tls_verify: true }],
    ["services[0].url", [], { url: "https://127.0.0.1:1" }],
    ["routes[0].paths[0]", [], { routes: [{ name: "a", paths: ["/a"] }] }],
  ])("that needs real Kong is refused with an error that names %s", async (path, plugins, service) => {
    const refused = expect(readConfig(configFor(nowhere, plugins, service), env)).rejects;
    await refused.toThrow(path);
    await refused.toThrow("run Kong");
  });

  test.each([
    [{ longest_query: "many" }, "longest_query: expected type integer"],
    [{ more: 1 }, "more: the schema has no such field"],
  ])("of a plugin is checked against its schema (%j)", async (change, message) => {
    const changed = await readKongYml(({ config }) => Object.assign(config, change));
    await expect(readConfig(changed, env)).rejects.toThrow(message);
  });
});

describe("bodies", () => {
  test("of responses are streamed to the client", async () => {
    let finish = () => {};
    const url = await start((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("first");
      finish = () => response.end("last");
    });
    const response = await respond(open(url).end());
    expect(String((await once(response, "data"))[0])).toBe("first");
    finish();
    expect(String((await once(response, "data"))[0])).toBe("last");
  });

  test("of requests are complete before they are forwarded, so slow clients do not block the upstream", async () => {
    let asked = 0;
    const url = await start(async (incoming, response) => {
      asked += 1;
      response.end(String((await text(incoming)).length));
    });
    const client = open(url, { method: "POST", headers: { "content-length": 3 } });
    client.write("12");
    await sleep(100);
    expect(asked).toBe(0);
    expect(await text(await respond(client.end("3")))).toBe("3");
  });

  test.each([false, true])(
    "are aborted upstream if the client disconnects (response has begun: %s)",
    async (answers) => {
      const sockets: IncomingMessage["socket"][] = [];
      const url = await start((incoming, response) => {
        if (answers) response.write("first");
        sockets.push(incoming.socket);
      });
      const client = open(url).end();
      if (answers) await once(await respond(client), "data");
      await vi.waitUntil(() => sockets.length > 0, { timeout: 5000 });
      client.destroy();
      await vi.waitUntil(() => sockets[0]?.destroyed, { timeout: 5000 });
    },
  );

  test("that the upstream aborts are aborted for the client too", async () => {
    const url = await start((incoming, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write("[1,");
      void sleep(20).then(() => incoming.socket.destroy());
    });
    await expect(send(url, "/")).rejects.toThrow("aborted");
  });
});

describe("rate limits", () => {
  const ask = async (url: string) => {
    const answer = await send(url, "/");
    return `${answer.status} ${answer.headers["x-ratelimit-remaining-day"]}`;
  };

  test("per day apply even if the hourly limit is not reached, and refused requests do not count", async () => {
    const url = await start((_, answer) => answer.end(), [limit({ hour: 7, day: 2 })]);
    expect([await ask(url), await ask(url), await ask(url)]).toEqual(["200 1", "200 0", "429 0"]);
    const { headers } = await send(url, "/");
    expect(headers["x-ratelimit-remaining-hour"]).toBe("5");
    const left = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    expect(Math.abs(Number(headers["retry-after"]) - left)).toBeLessThanOrEqual(2);
  });

  test("are not exceeded by simultaneous requests", async () => {
    const url = await start((_, answer) => answer.end(), [limit({ day: 5 })]);
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(url)));
    expect(answers.filter((answer) => answer.startsWith("200"))).toHaveLength(5);
  });
});

describe("an upstream", () => {
  test.each([
    [nowhere, 502],
    ["http://nowhere.invalid", 503],
  ])("that cannot be reached at %s results in %i", async (upstream, status) => {
    expect((await send((await startEmbedded(configFor(upstream), "")).url, "/")).status).toBe(status);
  });

  test("that closes a keep-alive connection gets the request again", async () => {
    let requests = 0;
    const url = await start((incoming, response) => {
      requests += 1;
      if (requests === 2) incoming.socket.destroy();
      else response.end("ok");
    });
    expect([(await send(url, "/")).status, (await send(url, "/")).status, requests]).toEqual([200, 200, 3]);
  });

  test.each([
    ["GET", 0, 3],
    ["GET", 1_100, 1],
    ["POST", 0, 1],
  ])("that aborts a %s after %i ms gets it %i time(s)", async (method, after, asked) => {
    let count = 0;
    const listener: RequestListener = (incoming) => {
      count += 1;
      setTimeout(() => incoming.destroy(), after);
    };
    const url = await start(listener, [], { retries: 2 });
    expect([(await send(url, "/", { method })).status, count]).toEqual([502, asked]);
  });
});

test("a malformed request gets 400, without a body if it is HEAD", async () => {
  const { url } = await startEmbedded(await readKongYml(), nowhere);
  for (const target of ["/a b", "/\x7f", "/\xff"]) {
    const answer = await sendBytes(url, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*Access-Control-Allow-Origin: \*.*{"code":"bad_request"/s);
  }
  const head = await sendBytes(url, "HEAD /a b HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 400 .*\r\n\r\n$/s);
});

test.each(["rewrite", "access", "filterHeaders"] as const)(
  "a Lua error in %s results in 500, and nothing from the upstream reaches the client",
  async (phase) => {
    let asked = 0;
    const upstream = await startUpstream((_, response) => {
      asked += 1;
      response.end("secret");
    });
    const fail = await runLua("return function() error('no such luck') end");
    const plugins = [{ name: "broken", priority: 0, [phase]: () => fail() }];
    const { routes } = await readConfig(configFor(upstream), env);
    const config = { routes: routes.map((route) => ({ ...route, plugins })), plugins };
    const connections = createConnectionPool();
    const context = { config, connections, isTrusted: () => false };
    const errors: unknown[] = [];
    const url = await startUpstream(async (request, response) => {
      errors.push((await handleRequest(context, request, response)).error);
    });
    expect(await send(url, "/general")).toMatchObject({ status: 500, body: "" });
    expect(String(errors[0])).toContain("no such luck");
    expect(asked).toBe(phase === "filterHeaders" ? 1 : 0);
    connections.destroy();
  },
);
