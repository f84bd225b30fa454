import { setHeader } from "../../../gateway/embedded/headers.ts";
import type { Exchange, Plugin } from "../../../gateway/embedded/plugin.ts";
import { readConfig } from "../../../gateway/embedded/read-config.ts";
import { readKongYml } from "../gateways.ts";
import { keys } from "../issued-keys.ts";

let nextId = 0;

/** An ordinary request: a filter, a select, what clients send. */
export function makeExchange(more: Partial<Exchange> = {}): Exchange {
  const headers: Exchange["headers"] = new Map();
  setHeader(headers, "Host", "api.example.org");
  setHeader(headers, "Accept", "application/json");
  setHeader(headers, "Accept-Encoding", "gzip, deflate");
  setHeader(headers, "User-Agent", "python-requests/2.32.3");
  setHeader(headers, "Connection", "keep-alive");
  setHeader(headers, "X-Api-Key", keys.standard);
  return {
    id: String(nextId++),
    method: "GET",
    path: "/federal_awards",
    rawPath: "/federal_awards",
    query:
      "report_id=eq.2023-06-GSAFAC-0000000001&select=report_id,award_reference,amount_expended&limit=100",
    address: "127.0.0.1",
    headers,
    answerHeaders: new Map(),
    ...more,
  };
}

/** The plugin of the project, as gateway/kong.yml configures it. */
export async function loadPlugin(): Promise<Plugin> {
  const env = { POSTGREST_URL: "http://127.0.0.1:3000", GATEWAY_TOKEN: "a token" };
  const { plugins } = await readConfig(await readKongYml(), env);
  const plugin = plugins.find(({ name }) => name === "single-audit");
  if (plugin === undefined) throw new Error("gateway/kong.yml has no plugin single-audit");
  return plugin;
}
