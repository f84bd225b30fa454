import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { flattenHeaders, type Headers, setHeader } from "./headers.ts";
import { runLua } from "./lua-state.ts";
import type { LuaValue } from "./lua-values.ts";
import type { Exchange, Plugin, Reply } from "./plugin.ts";

/** Contains a folder for each plugin. */
export const luaPluginsDirectory = path.resolve(import.meta.dirname, "../plugins");
const embeddedFiles = path.join(import.meta.dirname, "lua");

type HeaderChange = { name: string; value?: string };
/** What lua/pdk.lua returns after a phase. */
type Changes = {
  request_headers?: HeaderChange[];
  response_headers?: HeaderChange[];
  query?: string;
  target?: string;
  logged_path?: string;
  status?: number;
  exit?: { status: number; body: string; headers: Record<string, string | number> };
  filters_body: boolean;
  chunk?: string;
};

const host = {
  sha256_hex: (bytes: LuaValue) => createHash("sha256").update(String(bytes), "latin1").digest("hex"),
  now: () => Date.now() / 1000,
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
  const runRequestPhase = (phase: string, given: LuaValue, exchange: Exchange) =>
    applyToRequest(run(phase, given), exchange);
  return {
    name,
    priority: Number(call("start", { name, config })),
    rewrite(exchange) {
      const { id, method, target, path, rawPath, query, address } = exchange;
      const request = { id, method, path, raw_path: rawPath, query, address, request_uri: target };
      return runRequestPhase("rewrite", { ...request, headers: flattenHeaders(exchange.headers) }, exchange);
    },
    access: (exchange) => runRequestPhase("access", { id: exchange.id }, exchange),
    filterResponse({ id }, reply) {
      const { source, status, headers } = reply;
      const changes = run("header_filter", { id, source, status, response_headers: flattenHeaders(headers) });
      changeHeaders(headers, changes.response_headers);
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
  changeHeaders(exchange.headers, changes.request_headers);
  changeHeaders(exchange.responseHeaders, changes.response_headers);
  exchange.query = changes.query ?? exchange.query;
  if (changes.target !== undefined) exchange.upstream = changes.target;
  if (changes.logged_path !== undefined) exchange.loggedPath = changes.logged_path;
  if (changes.exit === undefined) return undefined;
  const headers: Headers = new Map();
  for (const [name, value] of Object.entries(changes.exit.headers)) setHeader(headers, name, value);
  return {
    source: "exit",
    status: changes.exit.status,
    headers,
    body: Buffer.from(changes.exit.body, "latin1"),
  };
}

function changeHeaders(headers: Headers, changes: HeaderChange[] = []): void {
  for (const { name, value } of changes) {
    if (value === undefined) headers.delete(name.toLowerCase());
    else setHeader(headers, name, value);
  }
}
