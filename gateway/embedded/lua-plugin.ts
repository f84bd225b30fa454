import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Headers, setHeader } from "./headers.ts";
import { runLua } from "./lua-state.ts";
import type { Answer, Plugin } from "./plugin.ts";

/** A folder for each plugin. */
export const luaPluginsDirectory = path.resolve(import.meta.dirname, "../plugins");

/**
 * Loads a plugin's Lua files, which Kong runs as well, with pdk.lua for Kong's functions.
 * @throws Error for a configuration that the plugin's schema refuses.
 */
export async function loadLuaPlugin(name: string, config: Record<string, string | number>): Promise<Plugin> {
  const pdk = path.join(import.meta.dirname, "pdk.lua");
  const call = await runLua(await readFile(pdk, "latin1"));
  const directory = path.join(luaPluginsDirectory, name);
  for (const file of await readdir(directory)) {
    const source = await readFile(path.join(directory, file), "latin1");
    call("preload", `kong.plugins.${name}.${file.replace(/\.lua$/, "")}`, source);
  }
  const priority = Number(call("start", name, Object.entries(config).flat().concat("").join("\n")));
  return {
    name,
    priority,
    rewrite(exchange) {
      const { id, method, path, rawPath, query, address, headers } = exchange;
      const changes = call("rewrite", id, joinLines([method, path, rawPath, query, address], headers));
      for (const [kind, text] of splitChanges(changes)) {
        if (kind === "Q") exchange.query = text;
        else if (kind === "L") exchange.loggedPath = text;
        else changeHeader(headers, kind, text);
      }
    },
    access(exchange) {
      let answer: (Answer & { headers: Headers }) | undefined;
      for (const [kind, text] of splitChanges(call("access", exchange.id))) {
        if (kind === "X") answer = { status: Number(text), headers: new Map() };
        else if (kind === "B" && answer) answer.body = text;
        else changeHeader(answer?.headers ?? exchange.headers, kind, text);
      }
      return answer;
    },
    filterHeaders({ id, address }, { status, headers, source }) {
      const changes = call("header_filter", id, joinLines([address, source, String(status)], headers));
      let isHeld = false;
      for (const [kind, text] of splitChanges(changes)) {
        if (kind === "W") isHeld = true;
        else changeHeader(headers, kind, text);
      }
      return isHeld;
    },
    filterBody: ({ id }, body) => call("body_filter", id, body),
    forget: ({ id }) => void call("forget", id),
  };
}

function joinLines(fields: string[], headers: Headers): string {
  let text = `${fields.join("\n")}\n`;
  for (const [name, { values }] of headers) for (const value of values) text += `${name}\n${value}\n`;
  return text;
}

function splitChanges(changes: string): [kind: string, text: string][] {
  if (changes === "") return [];
  return changes.split("\0").map((change) => [change.charAt(0), change.slice(1)]);
}

function changeHeader(headers: Headers, kind: string, text: string): void {
  const [name = "", value = ""] = text.split("\n");
  if (kind === "S") setHeader(headers, name, value);
  else headers.delete(name.toLowerCase());
}
