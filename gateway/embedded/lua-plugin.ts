import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setHeaders } from "./headers.ts";
import { runLua } from "./lua-state.ts";
import type { LuaValue } from "./lua-values.ts";
import type { Exchange, Plugin, Reply } from "./plugin.ts";

/** Contains a folder for each plugin. */
export const luaPluginsDirectory = path.resolve(import.meta.dirname, "../plugins");
const embeddedFiles = path.join(import.meta.dirname, "lua");

/** New values by lowercase name; false removes the header. */
type HeaderChanges = Record<string, string | false>;
/** What lua/pdk.lua returns after a phase. */
type Changes = {
  request_headers: HeaderChanges;
  response_headers: HeaderChanges;
  query?: string;
  target?: string;
  read_timeout?: number;
  logged_path?: string;
  status?: number;
  exit?: { status: number; body: string };
  filters_body?: boolean;
  chunk?: string;
  /** The phase waits for the body, or for this many seconds. */
  reads_body?: boolean;
  pause?: number;
};

const host = {
  sha256_hex: (bytes: LuaValue) => createHash("sha256").update(String(bytes), "latin1").digest("hex"),
  now: () => Date.now() / 1000,
  post: (url: LuaValue, body: LuaValue) => {
    const options = { method: "POST", body: String(body), signal: AbortSignal.timeout(1000) };
    void fetch(String(url), options).catch(() => {});
    return undefined;
  },
};

/**
 * Loads the Lua files of a plugin, which Kong runs as well. lua/pdk.lua replaces Kong's plugin development kit.
 * @throws Error if the plugin's schema rejects the configuration
 */
export async function loadLuaPlugin(
  name: string,
  config: LuaValue,
  directory = path.join(luaPluginsDirectory, name),
): Promise<Plugin> {
  const own = await readModules(embeddedFiles, "embedded");
  const modules = await readModules(directory, `kong.plugins.${name}`);
  const call = await runLua(own["embedded.pdk"] ?? "", { ...host, modules: { ...own, ...modules } });
  const run = (phase: string, given: LuaValue) => call("run_phase", phase, given) as Changes;
  return {
    name,
    priority: Number(call("start", { name, config })),
    rewrite(exchange) {
      const { id, method, target, path, rawPath, query, address, headers } = exchange;
      const given = { id, method, path, raw_path: rawPath, query, address, request_uri: target };
      return applyToRequest(run("rewrite", { ...given, headers: Object.fromEntries(headers) }), exchange);
    },
    async access(exchange) {
      let changes = run("access", { id: exchange.id });
      while (changes.reads_body || changes.pause !== undefined) {
        if (changes.pause === undefined) await exchange.readBody();
        else await sleep(1000 * changes.pause, undefined, { signal: exchange.left });
        changes = call("resume", exchange.id) as Changes;
      }
      return applyToRequest(changes, exchange);
    },
    filterResponse({ id }, reply) {
      const { source, status, headers } = reply;
      const given = { id, source, status, upstream_headers: Object.fromEntries(headers) };
      const changes = run("header_filter", given);
      setHeaders(headers, changes.response_headers);
      reply.status = changes.status ?? status;
      if (!changes.filters_body) return undefined;
      return (bytes, isLast) => {
        const { chunk } = run("body_filter", { id, chunk: bytes.toString("latin1"), is_last: isLast });
        return Buffer.from(chunk ?? "", "latin1");
      };
    },
    finish: ({ id }) => void call("finish", id),
  };
}

/** Reads the Lua files in a directory, by the name under which other files require them. */
async function readModules(directory: string, prefix: string): Promise<Record<string, string>> {
  const modules: Record<string, string> = {};
  for (const file of await readdir(directory))
    modules[`${prefix}.${path.parse(file).name}`] = await readFile(path.join(directory, file), "latin1");
  return modules;
}

function applyToRequest(changes: Changes, exchange: Exchange): Reply | undefined {
  setHeaders(exchange.headers, changes.request_headers);
  setHeaders(exchange.responseHeaders, changes.response_headers);
  exchange.query = changes.query ?? exchange.query;
  exchange.upstream = changes.target ?? exchange.upstream;
  exchange.readTimeout = changes.read_timeout ?? exchange.readTimeout;
  exchange.loggedPath = changes.logged_path;
  if (changes.exit === undefined) return undefined;
  const { status, body } = changes.exit;
  return { source: "exit", status, headers: new Map(), body: Buffer.from(body, "latin1") };
}
