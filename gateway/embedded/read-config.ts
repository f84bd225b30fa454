import { readdir } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { cors } from "./cors.ts";
import { loadLuaPlugin, luaPluginsDirectory } from "./lua-plugin.ts";
import type { Plugin } from "./plugin.ts";

const NOT_IMPLEMENTED = "The embedded gateway refuses these settings. Correct them, or run Kong.";

// The embedded gateway always collects metrics, with or without this plugin.
const prometheus = z
  .strictObject({ status_code_metrics: z.boolean(), latency_metrics: z.boolean() })
  .transform((): Plugin => ({ name: "prometheus", priority: 13 }));
const describePlugin = <Config extends z.ZodType<Plugin>>(name: string, config: Config) =>
  z.strictObject({ name: z.literal(name), config });

const milliseconds = z.int().min(1).default(60_000);
const route = z.strictObject({ name: z.string(), paths: z.tuple([z.literal("/")]) });
const service = z.strictObject({
  name: z.string(),
  url: z.string().regex(/^http:\/\/(\[[0-9a-f:]+\]|[\w.-]+)(:\d+)?\/?$/i, "expected http://<host>:<port>"),
  connect_timeout: milliseconds,
  read_timeout: milliseconds,
  write_timeout: milliseconds,
  retries: z.int().min(0).default(5),
  routes: z.tuple([route]),
});

export interface GatewayConfig {
  /** The upstream, with Kong's field names. Times are in milliseconds. */
  service: z.infer<typeof service>;
  /** Highest priority first. */
  plugins: Plugin[];
}

/**
 * Parses the text of gateway/kong.yml, and fills in addresses and secrets from the environment.
 * @throws Error that lists every setting that is wrong or that only Kong implements
 */
export async function readConfig(text: string, env: NodeJS.ProcessEnv): Promise<GatewayConfig> {
  const luaPlugins = (await readdir(luaPluginsDirectory)).map((name) => {
    const config = z.record(z.string(), z.json()).transform((given) => loadLuaPlugin(name, given));
    return describePlugin(name, config);
  });
  const known = [
    describePlugin("cors", cors),
    describePlugin("prometheus", prometheus),
    ...luaPlugins,
  ] as const;
  const document = z.strictObject({
    _format_version: z.literal("3.0"),
    services: z.tuple([service]),
    plugins: z.array(z.discriminatedUnion("name", known)).default([]),
  });
  const parsed = await document.safeParseAsync(parse(fillPlaceholders(text, env)));
  if (!parsed.success) throw new Error([z.prettifyError(parsed.error), NOT_IMPLEMENTED].join("\n"));
  const plugins = parsed.data.plugins.map(({ config }) => config);
  return { service: parsed.data.services[0], plugins: plugins.sort((a, b) => b.priority - a.priority) };
}

/**
 * Replaces ${POSTGREST_URL} and {vault://env/gateway-token} with values from the environment. Without a host of Redis,
 * the plugin counts requests in the gateway's own memory.
 */
function fillPlaceholders(text: string, env: NodeJS.ProcessEnv): string {
  const local = { REDIS_HOST: "", REDIS_PORT: "6379", REDIS_PASSWORD: "none" };
  const optional = { USAGE_URL: "", POSTGREST_WRITER_URL: env.POSTGREST_URL, POSTGREST_POOL: "6" };
  const values = { ...optional, ...env, ...local };
  const fill = (_: string, variable: string | undefined, secret = "") => {
    const name = variable ?? secret.replaceAll("-", "_").toUpperCase();
    const value = new Map(Object.entries(values)).get(name);
    if (value || name in local || name in optional) return value ?? "";
    throw new Error(`${name} is not set. Set it in the environment of the gateway.`);
  };
  return text.replace(/^ *#.*$/gm, "").replace(/\$\{(\w+)\}|\{vault:\/\/env\/([\w-]+)\}/g, fill);
}
