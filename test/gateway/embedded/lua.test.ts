import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createConnectionPool } from "../../../gateway/embedded/forward-request.ts";
import { setHeader } from "../../../gateway/embedded/headers.ts";
import { runLua } from "../../../gateway/embedded/lua-state.ts";
import type { Plugin } from "../../../gateway/embedded/plugin.ts";
import { handleRequest } from "../../../gateway/embedded/proxy.ts";
import { readConfig } from "../../../gateway/embedded/read-config.ts";
import { keys, sha256 } from "../issued-keys.ts";
import { loadPlugin, makeExchange } from "./ordinary-request.ts";
import { configFor, startUpstream } from "./support.ts";

const env = { POSTGREST_URL: "http://127.0.0.1:3000", GATEWAY_TOKEN: "a token" };
/** Microseconds of CPU in Lua that an ordinary request may take, on a quiet machine. */
const mostMicroseconds = 100;

describe("Lua in WebAssembly", () => {
  test(`takes at most ${mostMicroseconds} µs of CPU for an ordinary request, and no more memory as time goes by`, {
    timeout: 150_000,
  }, async () => {
    // A process of its own, since threads share what is counted.
    const program = new URL("./measure-lua.ts", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--expose-gc",
      "--import",
      "tsx",
      program,
    ]);
    const { microseconds, megabytes } = JSON.parse(stdout);
    console.log(`Lua: ${microseconds} µs of CPU a request; 30,000 requests took ${megabytes} MB`);
    // On a busy machine all of it takes longer.
    expect(microseconds).toBeLessThan(3 * mostMicroseconds);
    expect(megabytes).toBeLessThan(60);
  });

  test("keeps every byte of headers and queries, and hashes keys as PostgreSQL does", async () => {
    const plugin = await loadPlugin();
    const query = "auditee_name=eq.%C3%A9,%E2%82%AC&select=a,%20b&x=%zz&&y";
    const exchange = makeExchange({ query: `${query}&api_key=${keys.other}` });
    exchange.headers.delete("x-api-key");
    const bytes = Buffer.from("é €").toString("latin1");
    setHeader(exchange.headers, "Prefer", bytes);
    plugin.rewrite?.(exchange);
    expect(exchange.query).toBe(query);
    expect(exchange.headers.get("prefer")?.values).toEqual([bytes]);
    expect(exchange.headers.get("x-api-key-sha256")?.values).toEqual([sha256(keys.other)]);
    const echo = await runLua("return function(...) return table.concat({ ... }) end");
    const all = Buffer.from(Array.from({ length: 256 }, (_, code) => code)).toString("latin1");
    expect(echo(all, all.repeat(2000))).toBe(all.repeat(2001));
    const hash = await runLua("local sha256 = ... return function(text) return sha256(text) end");
    expect(hash("abc")).toBe(sha256("abc"));
  });

  test.each(["rewrite", "access", "filterHeaders"] as const)(
    "that fails in %s answers 500, and lets no request pass",
    async (phase) => {
      let asked = 0;
      const upstream = await startUpstream((_, response) => {
        asked += 1;
        response.end("secret");
      });
      const fail = await runLua("return function() error('no such luck') end");
      const broken: Plugin = { name: "broken", priority: 0, [phase]: () => fail() };
      const config = await readConfig(configFor(upstream), env);
      const plugins = [broken];
      const routes = config.routes.map((route) => ({ ...route, plugins }));
      const connections = createConnectionPool();
      const context = { config: { routes, plugins }, connections, isTrusted: () => false, gzip: true };
      const errors: unknown[] = [];
      const url = await startUpstream(async (request, response) => {
        errors.push((await handleRequest(context, request, response)).error);
      });
      const answer = await fetch(`${url}/general`);
      expect([answer.status, await answer.text()]).toEqual([500, ""]);
      expect(String(errors[0])).toContain("no such luck");
      expect(asked).toBe(phase === "filterHeaders" ? 1 : 0);
      connections.destroy();
    },
  );
});
