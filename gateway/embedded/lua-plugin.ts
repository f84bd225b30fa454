import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Headers, setHeader } from "./headers.ts";
import { runLua } from "./lua-state.ts";
import type { Answer, Plugin } from "./plugin.ts";

/** Contains a folder for each plugin. */
export const luaPluginsDirectory = path.resolve(import.meta.dirname, "../plugins");

/**
 * Loads the Lua files of a plugin, which Kong runs as well. pdk.lua replaces Kong's plugin development kit.
 * @throws Error if the plugin's schema rejects the configuration
 */
export async function loadLuaPlugin(name: string, config: Record<string, string | number>): Promise<Plugin> {
  const call = await runLua(await readFile(path.join(import.meta.dirname, "pdk.lua"), "latin1"));
  for (const file of await readdir(path.join(luaPluginsDirectory, name))) {
    const source = await readFile(path.join(luaPluginsDirectory, name, file), "latin1");
    call("preload", `kong.plugins.${name}.${path.parse(file).name}`, source);
  }
  const priority = Number(call("start", name, `${Object.entries(config).flat().join("\n")}\n`));
  return {
    name,
    priority,
    rewrite(exchange) {
      const { id, method, path, rawPath, query, address, headers } = exchange;
      // A decoded line break would end the field, so a carriage return replaces it. Table names contain neither.
      const text = joinLines([method, path.replaceAll("\n", "\r"), rawPath, query, address], headers);
      applyChanges(call("rewrite", id, text), headers, (kind, text) => {
        if (kind === "L") exchange.loggedPath = text;
        else exchange.query = text;
      });
    },
    access(exchange) {
      const { id, headers } = exchange;
      let answer: Answer | undefined;
      const own: Headers = new Map();
      const changes = call("access", id);
      applyChanges(changes, changes.startsWith("X") ? own : headers, (kind, text) => {
        if (kind === "X") answer = { status: Number(text), headers: own };
        else if (kind === "T") exchange.target = text;
        else if (answer) answer.body = text;
      });
      return answer;
    },
    filterHeaders({ id }, { status, headers, source }) {
      let isHeld = false;
      const text = joinLines([source, String(status)], headers);
      applyChanges(call("header_filter", id, text), headers, () => {
        isHeld = true;
      });
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

/** Applies the header changes that Lua lists, and passes all other changes to `other`. */
function applyChanges(changes: string, headers: Headers, other: (kind: string, text: string) => void): void {
  for (const change of changes === "" ? [] : changes.split("\0")) {
    const text = change.slice(1);
    const [name = "", value = ""] = text.split("\n");
    if (change.startsWith("S")) setHeader(headers, name, value);
    else if (change.startsWith("C")) headers.delete(name.toLowerCase());
    else other(change.charAt(0), text);
  }
}
