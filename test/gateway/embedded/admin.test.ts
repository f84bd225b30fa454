import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { documentFor, LUA, postConfig, send, startGateway, startUpstream } from "./support.ts";

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
