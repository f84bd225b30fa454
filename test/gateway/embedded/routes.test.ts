import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createSignal, documentFor, LUA, send, sendRaw, startGateway, startUpstream } from "./support.ts";

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
    // A client takes a body of HEAD for what the server says next.
    const refused = await send(gateway, "/\x7f", { method: "HEAD" });
    expect([refused.status, refused.headers["content-length"]]).toEqual([400, "0"]);
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
    const { services, ...document } = documentFor(upstream);
    const gateway = await startGateway({
      document: { ...document, services: services.map((service) => ({ ...service, retries: 2 })) },
    });
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
    const document = parse(await readFile(new URL("../../../gateway/kong.yml", import.meta.url), "utf8"));
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
