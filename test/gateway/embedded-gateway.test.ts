import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import {
  type EmbeddedGateway,
  type EmbeddedGatewayOptions,
  startEmbeddedGateway,
} from "../../gateway/embedded/start-embedded-gateway.ts";

const silent = pino({ level: "silent" });
const LUA: string = parse(await readFile(new URL("./kong-conformance/kong.yml", import.meta.url), "utf8"))
  .services[0].plugins[0].config.access[0];

/** What a test opened, closed in reverse order after it. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

describe("a document", () => {
  const service = (plugins: unknown[] = [], more: object = {}, route: object = {}) => ({
    _format_version: "3.0",
    services: [
      {
        name: "api",
        url: "http://127.0.0.1:9",
        routes: [{ name: "all", paths: ["/"], ...route }],
        plugins,
        ...more,
      },
    ],
  });
  const consumers = (...list: object[]) => ({ ...service(), consumers: list });
  const only = "not implemented by the embedded gateway; run Kong for this";

  test.for<[what: string, document: unknown, message: string]>([
    [
      "an unknown plugin",
      service([{ name: "acl", config: {} }]),
      `services[0].plugins[0].name: plugin "acl" ${only}`,
    ],
    [
      "an unknown field of a plugin",
      service([], {}, { plugins: [{ name: "cors", config: { foo: 1 } }] }),
      `services[0].routes[0].plugins[0].config.foo: ${only}`,
    ],
    [
      "a value that only Kong knows",
      service([{ name: "rate-limiting", config: { hour: 1, limit_by: "header" } }]),
      `services[0].plugins[0].config.limit_by: "header" ${only}`,
    ],
    [
      "an unknown field of a route",
      service([], {}, { hosts: ["a"] }),
      `services[0].routes[0].hosts: ${only}`,
    ],
    ["an unknown field of a service", service([], { tls_verify: true }), `services[0].tls_verify: ${only}`],
    [
      "an upstream that is not plain http",
      service([], { url: "https://127.0.0.1:9" }),
      `services[0].url: expected http://host:port/path; others are ${only}`,
    ],
    ["an unknown field of a consumer", consumers({ username: "a", acls: [] }), `consumers[0].acls: ${only}`],
    ["an unknown entity", { ...service(), upstreams: [] }, `upstreams: ${only}`],
    [
      "other Lua",
      service([
        { name: "pre-function", instance_name: "hash-api-key", config: { access: [`${LUA}\nx = 1`] } },
      ]),
      `services[0].plugins[0].config.access[0]: ${only}`,
    ],
    [
      "Lua in another phase",
      service([
        { name: "pre-function", instance_name: "hash-api-key", config: { access: [LUA], log: ["x"] } },
      ]),
      `services[0].plugins[0].config.log: ${only}`,
    ],
    [
      "Lua for the body that is not known",
      service([
        {
          name: "pre-function",
          instance_name: "hash-api-key",
          config: { access: [LUA], header_filter: ["x = 1"], body_filter: ["x = 1"] },
        },
      ]),
      `services[0].plugins[0].config.header_filter[0]: ${only}`,
    ],
    [
      "a template that is not a query parameter",
      service([{ name: "request-transformer", config: { add: { headers: ["a:$(headers.b)"] } } }]),
      `services[0].plugins[0].config.add.headers[0]: ${only}`,
    ],
    [
      "a regex path",
      service([], {}, { paths: ["~/a$"] }),
      `services[0].routes[0].paths[0]: regex paths ${only}`,
    ],
    [
      "an authentication plugin on a consumer",
      consumers({ username: "a", plugins: [{ name: "key-auth" }] }),
      `consumers[0].plugins[0].name: plugin "key-auth" ${only}`,
    ],
    [
      "a name given twice",
      service([], {
        routes: [
          { name: "a", paths: ["/"] },
          { name: "a", paths: ["/b"] },
        ],
      }),
      "services[0].routes[1].name: the same as services[0].routes[0].name; it must be unique",
    ],
    [
      "a credential given twice",
      consumers(
        { username: "a", keyauth_credentials: [{ key: "secret" }] },
        { username: "b", keyauth_credentials: [{ key: "secret" }] },
      ),
      "consumers[1].keyauth_credentials[0].key: the same as consumers[0].keyauth_credentials[0].key; it must be unique",
    ],
  ])("with %s is refused by name", async ([, document, message]) => {
    await expect(startGateway({ document })).rejects.toThrow(message);
  });

  test("with 50,000 consumers loads in less than two seconds of CPU time", async () => {
    const gateway = await startGateway({ admin: { host: "127.0.0.1", port: 0 } });
    const upstream = await startUpstream((_, response) => response.end("ok"));
    const document = {
      ...documentFor(upstream, [{ name: "key-auth", config: { key_names: ["x-api-key"] } }]),
      consumers: Array.from({ length: 50_000 }, (_, n) => ({
        username: `consumer-${n}`,
        custom_id: `id-${n}`,
        keyauth_credentials: [{ key: createHash("sha256").update(`key-${n}`).digest("hex") }],
      })),
    };
    const body = JSON.stringify(document);
    const before = process.cpuUsage();
    expect((await postConfig(gateway, body)).status).toBe(201);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2000);
    const key = createHash("sha256").update("key-49999").digest("hex");
    expect((await send(gateway, "/", { headers: { "x-api-key": key } })).status).toBe(200);
  });
});

describe("the admin API", () => {
  const admin = { host: "127.0.0.1", port: 0 };

  test("says that it is alive, that it is ready once it has a configuration, and what it answered", async () => {
    const upstream = await startUpstream((_, response) => response.end("ok"));
    const gateway = await startGateway({ admin });
    const statusOf = async (path: string) => (await fetch(`${gateway.adminUrl}${path}`)).status;
    expect(await statusOf("/healthz")).toBe(200);
    expect([await statusOf("/readyz"), await statusOf("/status/ready")]).toEqual([503, 503]);
    await postConfig(gateway, JSON.stringify(documentFor(upstream, [])));
    expect([await statusOf("/readyz"), await statusOf("/status/ready")]).toEqual([200, 200]);
    await send(gateway, "/");
    await expect
      .poll(async () => (await fetch(`${gateway.adminUrl}/metrics`)).text())
      .toMatch(/^kong_http_requests_total\{.*code="200".*source="service".*\} 1$/m);
  });

  test("swaps an accepted document, skips an unchanged one and keeps the old one when it refuses", async () => {
    const upstream = await startUpstream((incoming, response) => response.end(incoming.url));
    const gateway = await startGateway({ admin });
    expect((await fetch(`${gateway.adminUrl}/status`)).status).toBe(200);
    const before = await send(gateway, "/a");
    expect(before.status).toBe(404);
    expect(JSON.parse(before.body.toString()).message).toBe("no Route matched with those values");

    const document = JSON.stringify(documentFor(upstream, [], { strip_path: false }));
    expect((await postConfig(gateway, document)).status).toBe(201);
    expect((await send(gateway, "/a")).body.toString()).toBe("/a");
    expect((await postConfig(gateway, document, "?check_hash=1")).status).toBe(304);
    expect((await postConfig(gateway, JSON.stringify({ config: document }), "?check_hash=1")).status).toBe(
      304,
    );
    expect((await postConfig(gateway, document)).status).toBe(201);

    const refused = await postConfig(gateway, document.replace('"routes"', '"foo":1,"routes"'));
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({
      name: "invalid declarative configuration",
      code: 14,
      message: expect.stringContaining("declarative config is invalid: services[0].foo: not implemented"),
      fields: { "services[0].foo": expect.any(String) },
      flattened_errors: [expect.anything()],
    });
    expect((await send(gateway, "/a")).body.toString()).toBe("/a");
  });

  test("takes YAML, and keeps what was counted", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ admin });
    const limited = { name: "rate-limiting", config: { day: 2, limit_by: "ip" } };
    const yaml = `# YAML\n${JSON.stringify(documentFor(upstream, [limited]), null, 1)}`;
    for (const remaining of ["1", "0"]) {
      expect((await postConfig(gateway, yaml, "", "text/yaml")).status).toBe(201);
      expect((await send(gateway, "/")).headers["x-ratelimit-remaining-day"]).toBe(remaining);
    }
    expect((await postConfig(gateway, yaml, "", "text/yaml")).status).toBe(201);
    expect((await send(gateway, "/")).status).toBe(429);
  });

  test("listens on loopback only and takes nothing that a web page can send", async () => {
    await expect(startGateway({ admin: { host: "0.0.0.0", port: 0 } })).rejects.toThrow("loopback");
    const gateway = await startGateway({ admin });
    expect((await postConfig(gateway, "{}", "", "text/plain")).status).toBe(415);
  });
});

describe("bodies", () => {
  test("of responses arrive as they are sent", async () => {
    let finish = () => {};
    const upstream = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" }).write("first");
      finish = () => response.end("last");
    });
    const gateway = await startGateway({ document: documentFor(upstream) });
    const [, response] = await open(gateway, "/");
    const [first] = await once(response, "data");
    expect(first.toString()).toBe("first");
    finish();
    const [last] = await once(response, "data");
    expect(last.toString()).toBe("last");
  });

  test("of requests are passed on as they come, however large", async () => {
    let received = 0;
    const started = createSignal();
    const upstream = await startUpstream(async (incoming, response) => {
      for await (const chunk of incoming) {
        received += chunk.length;
        started.resolve();
      }
      response.end(String(received));
    });
    const gateway = await startGateway({ document: documentFor(upstream) });
    const size = 64 * 2 ** 20;
    const client = openRequest(gateway, "/", { method: "POST", headers: { "content-length": size } });
    client.write(Buffer.alloc(2 ** 20));
    await started.promise;
    expect(received).toBeLessThan(size);
    const before = process.memoryUsage().arrayBuffers;
    for (let sent = 2 ** 20; sent < size; sent += 2 ** 20) {
      if (!client.write(Buffer.alloc(2 ** 20))) await once(client, "drain");
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(size);
    client.end();
    const [response] = (await once(client, "response")) as [IncomingMessage];
    expect((await readAll(response)).toString()).toBe(String(size));
  });

  test("are cancelled upstream when the client goes away, before and after the first byte", async () => {
    for (const answersFirst of [false, true]) {
      const arrived = createSignal();
      const cancelled = createSignal();
      const upstream = await startUpstream((incoming, response) => {
        if (answersFirst) response.write("first");
        incoming.socket.once("close", () => cancelled.resolve());
        arrived.resolve();
      });
      const gateway = await startGateway({ document: documentFor(upstream) });
      const client = openRequest(gateway, "/");
      client.on("error", () => {});
      client.end();
      if (answersFirst) await once((await once(client, "response"))[0], "data");
      await arrived.promise;
      client.destroy();
      await cancelled.promise;
    }
  });

  test("that the upstream breaks off are broken off for the client too", async () => {
    const upstream = await startUpstream((incoming, response) => {
      response.writeHead(200, { "content-type": "application/json" }).write("[1,");
      setTimeout(() => incoming.socket.destroy(), 20);
    });
    const gateway = await startGateway({ document: documentFor(upstream) });
    await expect(send(gateway, "/")).rejects.toThrow("aborted");
  });

  test("over the limit get 413, with or without a stated length", async () => {
    const upstream = await startUpstream(async (incoming, response) => {
      response.end(String((await readAll(incoming)).length));
    });
    const limit = { name: "request-size-limiting", config: { allowed_payload_size: 10, size_unit: "bytes" } };
    const gateway = await startGateway({ document: documentFor(upstream, [limit]) });
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      const exact = await send(gateway, "/", { method: "POST", headers }, "x".repeat(10));
      expect([exact.status, exact.body.toString()]).toEqual([200, "10"]);
      const over = await send(gateway, "/", { method: "POST", headers }, "x".repeat(11));
      expect(over.status).toBe(413);
      expect(JSON.parse(over.body.toString()).message).toBe("Request size limit exceeded");
    }
    const expecting = { method: "POST", headers: { expect: "100-continue", "content-length": 11 } };
    expect((await send(gateway, "/", expecting, "x".repeat(11))).status).toBe(417);
  });

  test("are compressed as nginx does it, for clients that take gzip", async () => {
    const rows = JSON.stringify(Array.from({ length: 1000 }, (_, n) => ({ n })));
    const upstream = await startUpstream((incoming, response) => {
      const type = incoming.url?.slice(1).replace("-", "/") || "application/json";
      response.writeHead(incoming.url === "/206" ? 206 : 200, {
        "content-type": `${type}; charset=utf-8`,
        "content-length": rows.length,
        etag: '"strong"',
      });
      response.end(rows);
    });
    const options = { headers: { "accept-encoding": "br, gzip;q=0.8" } };
    const gateway = await startGateway({ document: documentFor(upstream, [], { strip_path: false }) });
    for (const path of ["/application-json", "/text-csv"]) {
      const { headers, body } = await send(gateway, path, options);
      expect(headers).toMatchObject({
        "content-encoding": "gzip",
        etag: 'W/"strong"',
        vary: "Accept-Encoding",
      });
      expect(headers["content-length"]).toBeUndefined();
      expect(gunzipSync(body).toString()).toBe(rows);
    }
    for (const [path, accept] of [
      ["/text-plain", "gzip"],
      ["/206", "gzip"],
      ["/text-csv", "gzip;q=0"],
      ["/text-csv", "*"],
    ] as const) {
      const { headers, body } = await send(gateway, path, { headers: { "accept-encoding": accept } });
      expect([headers["content-encoding"], headers.etag, body.toString()]).toEqual([
        undefined,
        '"strong"',
        rows,
      ]);
    }
    const plain = await startGateway({
      document: documentFor(upstream, [], { strip_path: false }),
      gzip: false,
    });
    expect((await send(plain, "/text-csv", options)).headers["content-encoding"]).toBeUndefined();
  });
});

describe("limits", () => {
  test("of a day hold when the hour's is not reached, and refused requests are not counted", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const limit = { name: "rate-limiting", config: { hour: 50, day: 50, limit_by: "ip" } };
    const high = { name: "rate-limiting", config: { day: 50, limit_by: "ip" } };
    const gateway = await startGateway({
      document: documentFor(upstream, [high]),
      admin: { host: "127.0.0.1", port: 0 },
    });
    for (let n = 1; n <= 50; n++) {
      const { status, headers } = await send(gateway, "/");
      expect([status, headers["x-ratelimit-remaining-day"]]).toEqual([200, String(50 - n)]);
    }
    const over = await send(gateway, "/");
    expect(over.status).toBe(429);
    const left = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    expect(Math.abs(Number(over.headers["retry-after"]) - left)).toBeLessThanOrEqual(2);
    // The hour's counter starts now; the day refuses, so the hour is never counted.
    await postConfig(gateway, JSON.stringify(documentFor(upstream, [limit])));
    for (let n = 0; n < 3; n++) {
      const { status, headers } = await send(gateway, "/");
      expect([status, headers["x-ratelimit-remaining-day"]]).toEqual([429, "0"]);
      expect(headers["x-ratelimit-remaining-hour"]).toBe("50");
    }
  });

  test("never let more through when requests come at once", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const limit = { name: "rate-limiting", config: { day: 5, limit_by: "ip" } };
    const gateway = await startGateway({ document: documentFor(upstream, [limit]) });
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(gateway, "/")));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
  });

  test("by address are shared by all consumers with such a plugin, and replace the service's", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const byAddress = { name: "rate-limiting", config: { day: 3, limit_by: "ip" } };
    const gateway = await startGateway({
      document: {
        ...documentFor(upstream, [
          { name: "key-auth", config: { key_names: ["x-api-key"] } },
          { name: "rate-limiting", config: { day: 9 } },
        ]),
        consumers: [
          { username: "a", keyauth_credentials: [{ key: "a" }], plugins: [byAddress] },
          { username: "b", keyauth_credentials: [{ key: "b" }], plugins: [byAddress] },
          { username: "c", keyauth_credentials: [{ key: "c" }] },
        ],
      },
    });
    const remaining = [];
    for (const key of ["a", "b", "c", "a", "b"]) {
      const { status, headers } = await send(gateway, "/", { headers: { "x-api-key": key } });
      remaining.push(`${status} ${headers["x-ratelimit-remaining-day"]}`);
    }
    expect(remaining).toEqual(["200 2", "200 1", "200 8", "200 0", "429 0"]);
  });
});

describe("hops", () => {
  const forged = {
    "x-forwarded-for": "9.9.9.9, 10.0.0.7",
    "x-forwarded-proto": "https",
    "x-real-ip": "8.8.8.8",
  };

  test.for([
    { name: "not trusted change nothing", trustedIps: [], client: "127.0.0.1", proto: "http" },
    { name: "trusted name the client", trustedIps: ["127.0.0.0/8"], client: "10.0.0.7", proto: "https" },
    {
      name: "trusted one after the other lead to the first that is not",
      trustedIps: ["127.0.0.1", "10.0.0.0/8"],
      client: "9.9.9.9",
      proto: "https",
    },
  ])("that are $name", async ({ trustedIps, client, proto }) => {
    const upstream = await startUpstream((incoming, response) =>
      response.end(JSON.stringify(incoming.headers)),
    );
    const limit = { name: "rate-limiting", config: { day: 1, limit_by: "ip" } };
    const gateway = await startGateway({ document: documentFor(upstream, [limit]), trustedIps });
    const { body } = await send(gateway, "/", { headers: forged });
    expect(JSON.parse(body.toString())).toMatchObject({
      "x-forwarded-for": "9.9.9.9, 10.0.0.7, 127.0.0.1",
      "x-forwarded-proto": proto,
      "x-real-ip": client,
    });
    // Another forged address gets a limit of its own only through a trusted hop.
    const second = await send(gateway, "/", { headers: { "x-forwarded-for": "9.9.9.1" } });
    expect(second.status).toBe(trustedIps.length === 0 ? 429 : 200);
  });

  test("headers of one hop are not passed on, and those sent twice arrive twice", async () => {
    const upstream = await startUpstream((incoming, response) => {
      response.writeHead(200, [
        "Set-Cookie",
        "a=1",
        "Set-Cookie",
        "b=2",
        "Connection",
        "x-one",
        "X-One",
        "1",
      ]);
      response.end(JSON.stringify(incoming.rawHeaders));
    });
    const gateway = await startGateway({ document: documentFor(upstream) });
    const { headers, body } = await send(gateway, "/", {
      headers: {
        prefer: ["count=exact", "max-affected=1"],
        connection: "x-two",
        "x-two": "2",
        te: "trailers",
      },
    });
    const raw: string[] = JSON.parse(body.toString());
    expect(raw.filter((_, i) => raw[i - 1] === "prefer")).toEqual(["count=exact", "max-affected=1"]);
    expect(raw.map((it) => it.toLowerCase())).not.toContain("x-two");
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(headers["x-one"]).toBeUndefined();
  });
});

describe("routes", () => {
  test.for<[path: string, strip: boolean, base: string, sent: string, upstream: string | number]>([
    ["/a", true, "", "/a", "/"],
    ["/a", true, "", "/a/b?x=%zz&y=%C3%A9&", "/b?x=%zz&y=%C3%A9&"],
    ["/a", true, "/base", "/a", "/base"],
    ["/a", true, "/base/", "/ab", "/base/b"],
    ["/a", false, "/base", "/a/b", "/base/a/b"],
    ["/a", false, "/base/", "/a?", "/base/a?"],
    ["/", true, "", "/x/../a%2Fb/%7e%20/./c%c3%a9", "/a%2Fb/~%20/c%C3%A9"],
    ["/a", true, "", "/b", 404],
  ])(
    "%s (strip_path %s, upstream path '%s') sends %s as %s",
    async ([path, strip_path, base, sent, expected]) => {
      const upstream = await startUpstream((incoming, response) => response.end(incoming.url));
      const document = documentFor(`${upstream}${base}`, [], { paths: [path], strip_path });
      const gateway = await startGateway({ document });
      const answer = await send(gateway, sent);
      expect(typeof expected === "number" ? answer.status : answer.body.toString()).toBe(expected);
    },
  );

  test("are not looked for when the request line is malformed or longer than 32 KB", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ document: documentFor(upstream) });
    expect((await sendRaw(gateway, "/a b")).status).toBe(400);
    expect((await send(gateway, `/?${"a".repeat(15_000)}`)).status).toBe(200);
    expect((await send(gateway, `/?${"a".repeat(33_000)}`)).status).toBe(414);
  });

  test("that do not exist get 404, with the headers of global plugins alone", async () => {
    const document = documentFor("http://127.0.0.1:1", [{ name: "correlation-id" }], { paths: ["/a"] });
    const gateway = await startGateway({
      document: { ...document, plugins: [{ name: "cors", config: { max_age: 1 } }] },
    });
    const { status, headers } = await send(gateway, "/b");
    expect([status, headers["access-control-allow-origin"], headers["kong-request-id"]]).toEqual([
      404,
      "*",
      undefined,
    ]);
  });

  test("that say more go first, then those with longer paths", async () => {
    const upstream = await startUpstream((incoming, response) => response.end(incoming.url));
    const route = (name: string, paths: string[], methods?: string[]) => ({
      name,
      paths,
      ...(methods && { methods }),
      plugins: [{ name: "request-termination", config: { status_code: 200, message: name } }],
    });
    const document = documentFor(upstream);
    const routes = [route("short", ["/"]), route("long", ["/a"]), route("method", ["/"], ["GET"])];
    Object.assign(document.services[0] ?? {}, { routes });
    const gateway = await startGateway({ document });
    const ask = async (method: string) =>
      JSON.parse((await send(gateway, "/a", { method })).body.toString()).message;
    expect([await ask("GET"), await ask("PUT")]).toEqual(["method", "long"]);
  });
});

describe("errors of the upstream", () => {
  test("come as HTML for a browser and as 503 for an unknown host", async () => {
    const closed = await startGateway({ document: documentFor("http://127.0.0.1:1") });
    const html = await send(closed, "/", { headers: { accept: "text/html,application/json;q=0.9" } });
    expect([html.status, html.headers["content-type"]]).toEqual([502, "text/html; charset=utf-8"]);
    expect(html.body.toString()).toContain(
      "<p>An invalid response was received from the upstream server.</p>",
    );
    const unknown = await startGateway({ document: documentFor("http://nowhere.invalid") });
    expect((await send(unknown, "/")).status).toBe(503);
  });

  test("do not reach a client whose kept connection the upstream closed", async () => {
    let requests = 0;
    const upstream = await startUpstream((incoming, response) => {
      if (++requests === 2) incoming.socket.destroy();
      else response.end("ok");
    });
    const gateway = await startGateway({ document: documentFor(upstream) });
    expect((await send(gateway, "/")).status).toBe(200);
    expect((await send(gateway, "/")).status).toBe(200);
    expect(requests).toBe(3);
  });
});

test("closing lets a request in flight finish and takes no other", async () => {
  const arrived = createSignal();
  const upstream = await startUpstream((_, response) => {
    arrived.resolve();
    setTimeout(() => response.end("late"), 300);
  });
  const gateway = await startGateway({ document: documentFor(upstream) });
  const answer = send(gateway, "/");
  await arrived.promise;
  const closed = gateway.close();
  await expect(send(gateway, "/")).rejects.toThrow("ECONNREFUSED");
  expect((await answer).body.toString()).toBe("late");
  await closed;
});

test("a taken port rejects with the listener's own error", async () => {
  const { port } = new URL((await startGateway({})).proxyUrl);
  const proxy = { host: "127.0.0.1", port: Number(port) };
  await expect(startGateway({ proxy })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

describe("an answer of 500", () => {
  const message = '"hint":null,"message":"canceling statement due to statement timeout"';
  const startWith = async (status: number, chunks: string[]) => {
    const upstream = await startUpstream((_, response) => {
      response.writeHead(status, { "content-length": chunks.join("").length });
      for (const chunk of chunks) response.write(chunk);
      response.end();
    });
    const document = parse(await readFile(new URL("../../gateway/kong.yml", import.meta.url), "utf8"));
    const plugins = document.services[0].plugins.filter(
      ({ name }: { name: string }) => name === "pre-function",
    );
    return await startGateway({ document: documentFor(upstream, plugins) });
  };

  test("is given a hint, however many pieces it comes in", async () => {
    const gateway = await startWith(500, [
      `{"details":"${"x".repeat(300_000)}",`,
      message.slice(0, 9),
      message.slice(9),
      "}",
    ]);
    const answer = await send(gateway, "/");
    expect(answer.status).toBe(500);
    expect(answer.headers["content-length"]).toBeUndefined();
    expect(JSON.parse(answer.body.toString())).toEqual({
      details: "x".repeat(300_000),
      hint: expect.stringMatching(/^The query ran longer than this key may\./),
      message: "canceling statement due to statement timeout",
    });
    const head = await send(gateway, "/", { method: "HEAD" });
    expect([head.status, head.body.length]).toEqual([500, 0]);
  });

  test.for([
    [500, '{"hint":null,"message":"canceling statement due to user request"}'],
    [200, `[{${message}}]`],
  ] as const)("is passed on unchanged when it is %s %s", async ([status, body]) => {
    const answer = await send(await startWith(status, [body]), "/");
    expect([answer.status, answer.body.toString()]).toEqual([status, body]);
  });
});

test("the log has one line a request and no key in it", async () => {
  const lines: string[] = [];
  const upstream = await startUpstream((_, response) => response.end());
  const hash = { name: "pre-function", instance_name: "hash-api-key", config: { access: [LUA] } };
  const gateway = await startGateway({
    document: {
      ...documentFor(upstream, [hash, { name: "key-auth", config: { key_names: ["x-api-key"] } }]),
      consumers: [
        {
          username: "a",
          custom_id: "id-of-a",
          keyauth_credentials: [{ key: createHash("sha256").update("topsecret").digest("hex") }],
        },
      ],
    },
    logger: pino({}, { write: (line: string) => lines.push(line) }),
  });
  await send(gateway, "/general?limit=1&api_key=topsecret");
  await send(gateway, "/general?API%5FKEY=topsecret", {
    headers: { "x-api-key": "topsecret", authorization: "topsecret" },
  });
  await expect.poll(() => lines.length).toBe(2);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 30,
    kong_request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    method: "GET",
    path: "/general",
    status: 200,
    durationMs: expect.any(Number),
    consumer: "id-of-a",
  });
  expect(lines.join("")).not.toContain("topsecret");
});

describe("npm run gateway:embedded", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-embedded-"));
    return () => rm(folder, { recursive: true });
  });

  test("prints its usage for --help", async () => {
    const { code, stdout } = await runCommand(["--help"]);
    expect(code).toBe(0);
    for (const option of ["--config", "--port", "--host", "--admin-port", "--trusted-ips", "--no-gzip"]) {
      expect(stdout).toContain(option);
    }
  });

  test("says in one line what is wrong", async () => {
    const good = join(folder, "good.yml");
    const broken = join(folder, "broken.yml");
    const foreign = join(folder, "foreign.yml");
    await writeFile(good, '_format_version: "3.0"\n');
    await writeFile(broken, '_format_version: "3.0"\nservices: [\n- name: a: b\n');
    await writeFile(foreign, '_format_version: "3.0"\nplugins:\n- name: acl\n');
    const { port } = new URL((await startGateway({})).proxyUrl);
    const errors: [string[], string | RegExp][] = [
      [["--config", `${folder}/none.yml`, "--port", "0"], `--config ${folder}/none.yml: no such file`],
      [["--config", broken, "--port", "0"], /--config \S+broken\.yml: line \d+: invalid YAML/],
      [["--config", foreign, "--port", "0"], 'plugins[0].name: plugin "acl" not implemented'],
      [["--config", good, "--port", port], `--port ${port}: the port is in use`],
      [["--config", good, "--port", "0", "--admin-port", port], `--admin-port ${port}: the port is in use`],
      [["--config", good, "--port", "x"], "expected a port number"],
      [["--config", good, "--port", "0", "--trusted-ips", "10.0.0.0/99"], 'trusted address "10.0.0.0/99"'],
    ];
    await Promise.all(
      errors.map(async ([args, message]) => {
        const { code, stderr } = await runCommand(args);
        expect(stderr).toMatch(message);
        expect(stderr.trim().split("\n")).toHaveLength(1);
        expect(code).toBe(1);
      }),
    );
  }, 30_000);

  test.for(["SIGINT", "SIGTERM"] as const)(
    "serves until %s and then ends well",
    { timeout: 20_000 },
    async (signal) => {
      const config = join(folder, `${signal}.yml`);
      const upstream = await startUpstream((_, response) => response.end("ok"));
      await writeFile(config, JSON.stringify(documentFor(upstream)));
      const child = startCommand(["--config", config, "--port", "0"]);
      const ready = /Gateway ready on (http:\S+)/;
      await expect.poll(() => child.output(), { timeout: 10_000 }).toMatch(ready);
      const url = ready.exec(child.output())?.[1] ?? "";
      expect(await (await fetch(url)).text()).toBe("ok");
      child.process.kill(signal);
      expect(await child.exit).toBe(0);
    },
  );
});

/** A promise that something outside of it resolves. */
function createSignal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((resolved) => {
    resolve = resolved;
  });
  return { promise, resolve };
}

type Plugins = { name: string; config?: object; instance_name?: string }[];

/** One service with one route; strip_path as Kong's default unless `route` says otherwise. */
function documentFor(url: string, plugins: Plugins = [], route: object = {}) {
  return {
    _format_version: "3.0",
    services: [{ name: "api", url, retries: 0, routes: [{ name: "all", paths: ["/"], ...route }], plugins }],
  };
}

async function startGateway(options: Partial<EmbeddedGatewayOptions>): Promise<EmbeddedGateway> {
  const proxy = { host: "127.0.0.1", port: 0 };
  const gateway = await startEmbeddedGateway({ proxy, logger: silent, ...options });
  opened.push(() => gateway.close());
  return gateway;
}

async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function postConfig(gateway: EmbeddedGateway, body: string, query = "", type = "application/json") {
  const response = await fetch(`${gateway.adminUrl}/config${query}`, {
    method: "POST",
    headers: { "content-type": type },
    body,
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? undefined : JSON.parse(text) };
}

function openRequest(gateway: EmbeddedGateway, path: string, options: RequestOptions = {}): ClientRequest {
  const { hostname, port } = new URL(gateway.proxyUrl);
  return request({ host: hostname, port, path, agent: false, ...options });
}

async function open(gateway: EmbeddedGateway, path: string): Promise<[ClientRequest, IncomingMessage]> {
  const client = openRequest(gateway, path);
  client.end();
  const [response] = (await once(client, "response")) as [IncomingMessage];
  return [client, response];
}

async function send(gateway: EmbeddedGateway, path: string, options: RequestOptions = {}, body?: string) {
  const client = openRequest(gateway, path, options);
  client.end(body);
  const [response] = (await once(client, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await readAll(response) };
}

/** For what node:http would not send. */
async function sendRaw(gateway: EmbeddedGateway, target: string) {
  const { hostname, port } = new URL(gateway.proxyUrl);
  const socket = connect(Number(port), hostname);
  socket.end(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  const body = Buffer.concat(await socket.toArray());
  return { status: Number(body.toString().split(" ")[1]), body };
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function startCommand(args: string[]) {
  const root = new URL("../../", import.meta.url).pathname;
  const child: ChildProcess = spawn(
    process.execPath,
    ["--import", "tsx", "scripts/gateway-embedded.ts", ...args],
    { cwd: root, stdio: ["ignore", "pipe", "pipe"] },
  );
  opened.push(() => child.kill("SIGKILL"));
  const text = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk) => {
    text.stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    text.stderr += chunk;
  });
  return {
    process: child,
    output: () => text.stdout,
    text,
    exit: once(child, "close").then(([code]) => code),
  };
}

async function runCommand(args: string[]) {
  const { text, exit } = startCommand(args);
  const code: unknown = await exit;
  return { code, ...text };
}
