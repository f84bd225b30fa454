import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  admin,
  askAdmin,
  documentFor,
  ids,
  LUA,
  putPlugin,
  putService,
  send,
  startGateway,
  startUpstream,
} from "./support.ts";

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

  test("with ten times the consumers takes about ten times as long to load", async () => {
    const upstream = await startUpstream((_, response) => response.end("ok"));
    const hash = (number: number) => createHash("sha256").update(`key-${number}`).digest("hex");
    const load = async (count: number) => {
      const document = {
        ...documentFor(upstream, [{ name: "key-auth", config: { key_names: ["x-api-key"] } }]),
        consumers: Array.from({ length: count }, (_, n) => ({
          username: `consumer-${n}`,
          custom_id: `id-${n}`,
          keyauth_credentials: [{ key: hash(n) }],
        })),
      };
      const start = performance.now();
      const gateway = await startGateway({ document });
      return { gateway, milliseconds: performance.now() - start };
    };
    const few = await load(5_000);
    const { gateway, milliseconds } = await load(50_000);
    // A hundred times where each consumer is compared with each. Other files are tested meanwhile.
    expect(milliseconds / few.milliseconds).toBeLessThan(40);
    expect((await send(gateway, "/", { headers: { "x-api-key": hash(49_999) } })).status).toBe(200);
  });
});

describe("the Admin API", () => {
  test("says that it is alive, that it is ready once it has a route, and what it answered", async () => {
    const upstream = await startUpstream((_, response) => response.end("ok"));
    const gateway = await startGateway({ admin });
    // Whoever watches has no token.
    const statusOf = async (path: string) => (await fetch(`${gateway.adminUrl}${path}`)).status;
    expect([await statusOf("/healthz"), await statusOf("/status")]).toEqual([200, 200]);
    expect([await statusOf("/readyz"), await statusOf("/status/ready")]).toEqual([503, 503]);
    expect(await putService(gateway, upstream)).toEqual([200, 200]);
    expect([await statusOf("/readyz"), await statusOf("/status/ready")]).toEqual([200, 200]);
    await send(gateway, "/");
    await expect
      .poll(async () => (await fetch(`${gateway.adminUrl}/metrics`)).text())
      .toMatch(/^kong_http_requests_total\{.*code="200".*source="service".*\} 1$/m);
  });

  test("changes what is served for the next request, and keeps the old when it refuses", async () => {
    const upstream = await startUpstream((incoming, response) => response.end(incoming.url));
    const gateway = await startGateway({ admin });
    const before = await send(gateway, "/a");
    expect(before.status).toBe(503);
    expect(before.headers["retry-after"]).toBe("1");
    expect(JSON.parse(before.body.toString()).message).toBe("The gateway waits for its configuration");

    await putService(gateway, upstream, { strip_path: false });
    expect((await send(gateway, "/a")).body.toString()).toBe("/a");
    // Kong has both, and the embedded gateway neither: it says so in place of ignoring them.
    const refused = [
      await askAdmin(gateway, "PATCH", `/routes/${ids.route}`, { hosts: ["a"] }),
      await putPlugin(gateway, "rate-limiting", { month: 1 }),
    ];
    for (const { status, json } of refused) {
      expect([status, json.code]).toEqual([400, 2]);
      expect(json.message).toContain("not implemented by the embedded gateway; run Kong for this");
    }
    expect(refused[0]?.json.fields).toEqual({ hosts: expect.any(String) });
    expect((await send(gateway, "/a")).body.toString()).toBe("/a");
    await askAdmin(gateway, "DELETE", `/routes/${ids.route}`);
    expect((await send(gateway, "/a")).status).toBe(503);
  });

  test("keeps what was counted, whatever is put again", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ admin });
    const limit = async () => {
      await putService(gateway, upstream);
      expect((await putPlugin(gateway, "rate-limiting", { day: 2, limit_by: "ip" })).status).toBe(200);
    };
    for (const remaining of ["1", "0"]) {
      await limit();
      expect((await send(gateway, "/")).headers["x-ratelimit-remaining-day"]).toBe(remaining);
    }
    await limit();
    expect((await send(gateway, "/")).status).toBe(429);
  });

  test("takes a key into service and out of it at once, with its own limits", async () => {
    const upstream = await startUpstream((_, response) => response.end());
    const gateway = await startGateway({ admin });
    await putService(gateway, upstream);
    await putPlugin(gateway, "key-auth", { key_names: ["x-api-key"] });
    const id = "44444444-4444-4444-8444-444444444444";
    const ask = async (key: string) => (await send(gateway, "/", { headers: { "x-api-key": key } })).status;
    await askAdmin(gateway, "PUT", `/consumers/${id}`, { username: "a" });
    await askAdmin(gateway, "PUT", `/consumers/${id}/key-auth/${id}`, { key: "one" });
    expect(await ask("one")).toBe(200);
    await askAdmin(gateway, "PUT", `/consumers/${id}/key-auth/${id}`, { key: "two" });
    expect([await ask("one"), await ask("two")]).toEqual([401, 200]);
    const plugin = { name: "rate-limiting", consumer: { id }, config: { day: 1 } };
    await askAdmin(gateway, "PUT", `/plugins/${id}`, plugin);
    expect([await ask("two"), await ask("two")]).toEqual([200, 429]);
    await askAdmin(gateway, "DELETE", `/plugins/${id}`);
    expect(await ask("two")).toBe(200);
    await askAdmin(gateway, "DELETE", `/consumers/${id}`);
    expect(await ask("two")).toBe(401);
  });

  test("listens on loopback only, and asks for its token and its own name", async () => {
    await expect(startGateway({ admin: { ...admin, host: "0.0.0.0" } })).rejects.toThrow("loopback");
    const gateway = await startGateway({ admin });
    const path = `/consumers/${ids.route}`;
    const body = { username: "a" };
    const json = { "content-type": "application/json" };
    const statusOf = async (headers: Record<string, string>) =>
      (await askAdmin(gateway, "PUT", path, body, headers)).status;
    expect(await statusOf({ ...json, "kong-admin-token": "" })).toBe(401);
    expect(await statusOf({ ...json, "kong-admin-token": `${admin.token}.` })).toBe(401);
    expect(
      (await askAdmin(gateway, "GET", "/consumers", undefined, { "kong-admin-token": "no" })).status,
    ).toBe(401);
    // What a web page can send without asking first.
    expect(await statusOf({ "content-type": "text/plain" })).toBe(415);
    const asOther = { headers: { host: "attacker.example", "kong-admin-token": admin.token } };
    for (const target of ["/consumers", "/status", "/metrics"]) {
      const answer = await send({ ...gateway, proxyUrl: gateway.adminUrl ?? "" }, target, asOther);
      expect(answer.status).toBe(403);
    }
    expect((await askAdmin(gateway, "GET", path)).status).toBe(404);
    expect(await statusOf(json)).toBe(200);
  });

  test("takes nothing that is larger than an entity can be", async () => {
    const gateway = await startGateway({ admin });
    const body = { username: "a".repeat(2 << 20) };
    expect((await askAdmin(gateway, "PUT", `/consumers/${ids.route}`, body)).status).toBe(413);
  });
});
