import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createConnectionPool } from "../../gateway/embedded/forward-request.ts";
import { handleRequest, type Outcome } from "../../gateway/embedded/handle-request.ts";
import { loadLuaPlugin } from "../../gateway/embedded/lua-plugin.ts";
import { runLua } from "../../gateway/embedded/lua-state.ts";
import { readConfig } from "../../gateway/embedded/read-config.ts";
import { makeDirectory } from "../support/make-directory.ts";
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
const cors = { origins: ["*"], methods: ["GET"], exposed_headers: ["etag"], max_age: 1 };
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
      [
        [...anyPorts, "--trusted-ips", "10.0.0.0/99"],
        "gateway:embedded: TRUSTED_IPS is malformed (invalid range on address: 10.0.0.0/99).",
      ],
    ];
    const expectError = async ([args, message, environment = env]: (typeof errors)[number]) => {
      const { exited, output } = run(args, environment);
      expect([await exited, output()]).toEqual([1, expect.stringContaining(message)]);
    };
    await Promise.all(errors.map(expectError));
  });
});

describe("the configuration", () => {
  test.each([
    ["plugins[0].name", [{ name: "rate-limiting", config: {} }], {}],
    ['"headers"', [{ name: "cors", config: { ...cors, headers: ["x-api-key"] } }], {}],
    [
      "plugins[0].config.origins[0]",
      [{ name: "cors", config: { ...cors, origins: ["https://a.example"] } }],
      {},
    ],
    ['"tls_verify"', [], { tls_verify: true }],
    ['"plugins"', [], { plugins: [] }],
    ["services[0].url", [], { url: "https://127.0.0.1:1" }],
    ["routes[0].paths[0]", [], { routes: [{ name: "a", paths: ["/a"] }] }],
    ['"headers"', [], { routes: [{ name: "a", paths: ["/"], headers: { "x-tier": ["demo"] } }] }],
    ["services[0].routes", [], { routes: [] }],
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
      await expect.poll(() => sockets.length).toBe(1);
      client.destroy();
      await expect.poll(() => sockets[0]?.destroyed).toBe(true);
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

describe("an upstream", () => {
  test.each([
    [nowhere, 503],
    ["http://nowhere.invalid", 503],
  ])("that cannot be reached at %s results in %i", async (upstream, status) => {
    expect((await send((await startEmbedded(configFor(upstream), "")).url, "/")).status).toBe(status);
  });

  test("that closes a keep-alive connection gets the request again", async () => {
    let requests = 0;
    const listener: RequestListener = (incoming, response) => {
      requests += 1;
      if (requests === 2) incoming.socket.destroy();
      else response.end("ok");
    };
    const url = await start(listener, [], { retries: 1 });
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
    expect([(await send(url, "/", { method })).status, count]).toEqual([503, asked]);
  });
});

test("a malformed request gets 400 with a body like every error, and its connection is closed", async () => {
  const { url } = await startEmbedded(await readKongYml(), nowhere);
  for (const start of ["GET /a b HTTP/1.1\r\nHost: a", "GET /\x7f HTTP/1.1\r\nHost: a", "GET / HTTP/1.1"])
    expect(await sendBytes(url, `${start}\r\n\r\n`), start).toMatch(
      /^HTTP\/1\.1 400 .*proxy-status: Gateway; error=bad_request\r.*"code":"bad_request"/s,
    );
});

test("a malformed HEAD gets no body", async () => {
  const { url } = await startEmbedded(await readKongYml(), nowhere);
  expect(await sendBytes(url, "HEAD /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n")).toMatch(
    /^HTTP\/1\.1 400 .*\r\n\r\n$/s,
  );
});

test("bytes after a request are no second response, and end the connection", async () => {
  const url = await start((incoming, response) => {
    incoming.resume();
    response.end("ok");
  });
  for (const [method, body] of [
    ["HEAD", ""],
    ["GET", "ok"],
  ]) {
    const answer = await sendBytes(url, `${method} / HTTP/1.1\r\nHost: a\r\n\r\n[]`);
    expect(answer.match(/^HTTP/gm), method).toHaveLength(1);
    expect(answer, method).toMatch(new RegExp(`^HTTP/1.1 200 .*connection: close\r\n\r\n${body}$`, "is"));
  }
});

test("a 304 with a Content-Length reaches the client, and later requests get their own responses", async () => {
  const url = await start((incoming, response) => {
    if (incoming.url === "/") return void response.writeHead(304, { "content-length": 5 }).end();
    response.end(incoming.url);
  });
  const answers = [await send(url, "/"), await send(url, "/next")];
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [304, ""],
    [200, "/next"],
  ]);
});

describe("a Lua plugin", () => {
  /** Starts a gateway with a plugin whose handler has these functions, in front of an upstream that sends two parts. */
  async function startPlugin(functions: string) {
    const asked: (string | undefined)[] = [];
    const upstream = await startUpstream(async (incoming, response) => {
      asked.push(incoming.url);
      response.writeHead(200, { "content-type": "text/plain", "x-mine": incoming.headers["x-mine"] ?? "" });
      response.write("one\xff");
      await sleep(20);
      response.end("two");
    });
    const directory = await makeDirectory();
    const handler = `local handler = { PRIORITY = 7 }\n${functions}\nreturn handler`;
    await writeFile(path.join(directory, "handler.lua"), handler);
    await writeFile(
      path.join(directory, "schema.lua"),
      "return { fields = { { config = { type = 'record', fields = {} } } } }",
    );
    const plugin = await loadLuaPlugin("tested", {}, directory);
    const { service } = await readConfig(configFor(upstream), env);
    const connections = createConnectionPool(service);
    onTestFinished(() => connections.destroy());
    const gateway = { config: { service, plugins: [plugin] }, connections, isTrusted: () => false };
    const outcomes: Outcome[] = [];
    const url = await startUpstream(async (request, response) => {
      outcomes.push(await handleRequest(gateway, request, response));
    });
    return { url, asked, outcomes };
  }

  test("answers a request in the rewrite phase, before it is routed or forwarded", async () => {
    const { url, asked, outcomes } = await startPlugin(`
      function handler:rewrite()
        kong.response.exit(418, ngx.var.request_uri, { ["X-Why"] = "teapot" })
      end
      function handler:access() error("too late") end
      function handler:header_filter() kong.response.set_header("X-Source", kong.response.get_source()) end`);
    const { status, body, headers } = await send(url, "/%67eneral?limit=1#x");
    expect([status, body, headers["x-why"], headers["x-source"]]).toEqual([
      418,
      "/%67eneral?limit=1#x",
      "teapot",
      "exit",
    ]);
    expect([asked, outcomes[0]?.isRouted]).toEqual([[], false]);
  });

  test("changes requests, and gives all its responses a status and headers", async () => {
    const { url, asked } = await startPlugin(`
      function handler:access()
        kong.service.request.set_raw_query("a=%20b")
        kong.service.request.set_header("X-Mine", "a\\nb")
        kong.response.set_header("X-Left", 4 / 2)
      end
      function handler:header_filter()
        kong.response.set_status(kong.response.get_status() + 3)
        kong.response.set_header("X-Seen", kong.response.get_header("X-Mine"))
        kong.response.clear_header("Content-Type")
      end`);
    const { status, headers } = await send(url, "/general?b=1");
    expect(asked).toEqual(["/general?a=%20b"]);
    expect([status, headers["x-left"], headers["x-seen"]]).toEqual([203, "2", "a%0Ab"]);
    expect(headers).not.toHaveProperty("content-type");
  });

  const filter = (body: string) => `
    function handler:header_filter() kong.ctx.plugin.filters_body = true end
    function handler:body_filter() ${body} end`;
  test.each([
    ["each part as it arrives", `ngx.arg[1] = "[" .. ngx.arg[1] .. (ngx.arg[2] and "." or "") .. "]"`],
    [
      "the whole body",
      `local body = kong.response.get_raw_body() if body then kong.response.set_raw_body("<" .. body .. ">") end`,
    ],
    ["none of it", "ngx.arg[1] = nil"],
  ])("changes %s", async (what, body) => {
    const { url } = await startPlugin(filter(body));
    const expected = {
      "each part as it arrives": "[oneÿ][two][.]",
      "the whole body": "<oneÿtwo>",
      "none of it": "",
    };
    expect((await send(url, "/")).body).toBe(expected[what as keyof typeof expected]);
  });

  test("streams a body that it changes", async () => {
    const { url } = await startPlugin(filter("ngx.arg[1] = ngx.arg[1]:upper()"));
    const response = await respond(open(url).end());
    const [first] = await once(response, "data");
    expect(String(first)).toContain("ONE");
  });

  test.each([
    ["rewrite", 500, 0],
    ["access", 500, 0],
    ["header_filter", 500, 1],
  ])(
    "that fails in %s results in %i, and nothing from the upstream reaches the client",
    async (phase, status, times) => {
      const { url, asked, outcomes } = await startPlugin(
        `function handler:${phase}() error("no such luck") end`,
      );
      expect(await send(url, "/general")).toMatchObject({ status, body: "" });
      expect(String(outcomes[0]?.error)).toContain("no such luck");
      expect(asked).toHaveLength(times);
    },
  );

  test("that fails in body_filter aborts the response", async () => {
    const { url } = await startPlugin(filter(`error("no such luck")`));
    await expect(send(url, "/")).rejects.toThrow(/aborted|hang up/);
  });
});

describe("Lua", () => {
  const readLua = (file: string) =>
    readFile(new URL(`../../gateway/embedded/lua/${file}`, import.meta.url), "latin1");

  test("gets and returns values without changing a byte", async () => {
    const echo = await runLua("return function(...) return ... end");
    const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, n) => n));
    const table = { a: { b: 1 }, [bytes]: "" };
    const values = [bytes, "", 0, -1.5, 2 ** 40, true, false, undefined, table];
    for (const value of values) expect(echo(value)).toEqual(value);
    const large = "x".repeat(20_000_000);
    expect(echo(large) === large).toBe(true);
    const describe = await runLua("return function(value) return math.type(value) or #value end");
    expect([describe(1000), describe(0.5), describe(["a", "b"])]).toEqual(["integer", "float", 2]);
  });

  const schema = `{
    { limits = { type = "map", required = true, keys = { type = "string" }, values = { type = "record", fields = {
      { by = { type = "string", required = true, one_of = { "key", "network" } } },
      { hour = { type = "integer", gt = 0 } },
    } } } },
    { url = { type = "string", match = "^http://", len_min = 9 } },
  }`;
  test.each([
    [{ limits: { demo: { by: "key", hour: 3 }, default: { by: "network" } }, url: "http://ab" }, ""],
    [{}, "limits: expected type map"],
    [{ limits: { demo: { by: "key", hour: "3" } } }, "limits.demo.hour: expected type integer"],
    [{ limits: { demo: { by: "key", hour: 0 } } }, "limits.demo.hour: expected more than 0"],
    [{ limits: { demo: { by: "day" } } }, "limits.demo.by: expected one of key, network"],
    [{ limits: { demo: {} } }, "limits.demo.by: expected type string"],
    [{ limits: { demo: { by: "key", day: 1 } } }, "limits.demo.day: the schema has no such field"],
    [{ limits: {}, url: "ftp://abc" }, "url: expected a value that matches ^http://"],
    [{ limits: {}, url: "http://" }, "url: expected at least 9 characters"],
  ])("checks the configuration %j against the schema", async (given, message) => {
    const run = await runLua(
      `local check = load((...).source)() return function(given) check("", ${schema}, given) end`,
      { source: await readLua("check_config.lua") },
    );
    if (message === "") run(given);
    else expect(() => run(given)).toThrow(message);
  });

  test("counts in a shared dictionary, whose entries expire", async () => {
    let now = 1000;
    const source = await readLua("shared_dict.lua");
    const call = await runLua(
      "local dict = load((...).source)()((...).now) return function(name, ...) return dict[name](dict, ...) end",
      { source, now: () => now },
    );
    const later = (seconds: number) => {
      now += seconds;
    };
    expect([call("get", "a"), call("incr", "a", 1)]).toEqual([undefined, undefined]);
    expect([call("incr", "a", 1, 0, 60), call("incr", "a", 2, 0, 60)]).toEqual([1, 3]);
    later(59.5);
    expect(call("incr", "a", 1, 0, 60)).toBe(4);
    later(1);
    expect([call("get", "a"), call("incr", "a", 1, 0, 60)]).toEqual([undefined, 1]);
  });
});
