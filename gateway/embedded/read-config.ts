import { readdir } from "node:fs/promises";
import { parse } from "yaml";
import { z } from "zod";
import { loadLuaPlugin, luaPluginsDirectory } from "./lua-plugin.ts";
import type { Plugin } from "./plugin.ts";
import { cors } from "./plugins/cors.ts";
import { rateLimiting } from "./plugins/rate-limiting.ts";

const NOT_IMPLEMENTED = "The embedded gateway refuses these settings. Correct them, or run Kong.";

// The embedded gateway always collects metrics, with or without this plugin.
const prometheus = z
  .strictObject({ status_code_metrics: z.boolean(), latency_metrics: z.boolean() })
  .transform((): Plugin => ({ name: "prometheus", priority: 13 }));
const describePlugin = <Config extends z.ZodType<Plugin>>(name: string, config: Config) =>
  z.strictObject({ name: z.literal(name), config });
const describedPlugins = [
  describePlugin("cors", cors),
  describePlugin("rate-limiting", rateLimiting),
  describePlugin("prometheus", prometheus),
] as const;
const plugins = z.array(z.discriminatedUnion("name", describedPlugins)).default([]);

const milliseconds = z.int().min(1).default(60_000);
const route = z.strictObject({
  name: z.string(),
  paths: z.tuple([z.literal("/")]),
  headers: z.record(z.string().toLowerCase(), z.array(z.string().toLowerCase()).min(1)).default({}),
  plugins,
});
const service = z.strictObject({
  name: z.string(),
  url: z.string().regex(/^http:\/\/(\[[0-9a-f:]+\]|[\w.-]+)(:\d+)?\/?$/i, "expected http://<host>:<port>"),
  connect_timeout: milliseconds,
  read_timeout: milliseconds,
  write_timeout: milliseconds,
  retries: z.int().min(0).default(5),
  plugins,
  routes: z.array(route),
});

/** An upstream, with Kong's field names. Times are in milliseconds. */
export type Service = Omit<z.infer<typeof service>, "routes" | "plugins">;
/** A request matches the route if each of these headers has one of the listed values. */
export type Route = Omit<z.infer<typeof route>, "paths" | "plugins"> & {
  service: Service;
  plugins: Plugin[];
};

export interface GatewayConfig {
  routes: Route[];
  /** Global plugins, which also run for requests that match no route. */
  plugins: Plugin[];
}

/**
 * Parses the text of gateway/kong.yml, and fills in POSTGREST_URL and GATEWAY_TOKEN from the environment.
 * @throws Error that lists every setting that is wrong or that only Kong implements
 */
export async function readConfig(text: string, env: NodeJS.ProcessEnv): Promise<GatewayConfig> {
  const luaConfig = z.record(z.string(), z.union([z.string(), z.number()]));
  const luaPlugins = (await readdir(luaPluginsDirectory)).map((name) => {
    const config = luaConfig.transform((given) => loadLuaPlugin(name, given));
    return describePlugin(name, config);
  });
  const document = z.strictObject({
    _format_version: z.literal("3.0"),
    services: z.array(service),
    plugins: z.array(z.discriminatedUnion("name", [...describedPlugins, ...luaPlugins])).default([]),
  });
  const parsed = await document.safeParseAsync(parse(fillPlaceholders(text, env)));
  if (!parsed.success) throw new Error([z.prettifyError(parsed.error), NOT_IMPLEMENTED].join("\n"));
  const globals = replacePlugins([], parsed.data.plugins);
  const routes = parsed.data.services.flatMap(({ routes, plugins, ...service }) => {
    const inherited = replacePlugins(globals, plugins);
    return routes.map(({ plugins, ...route }): Route => {
      return { ...route, service, plugins: replacePlugins(inherited, plugins) };
    });
  });
  return { routes, plugins: globals };
}

/**
 * Replaces ${POSTGREST_URL} and {vault://env/gateway-token} with values from the environment. The embedded gateway
 * always counts requests in its own memory, not in Redis.
 */
function fillPlaceholders(text: string, env: NodeJS.ProcessEnv): string {
  const local = { COUNTERS: "local", REDIS_HOST: "127.0.0.1", REDIS_PORT: "6379", REDIS_PASSWORD: "none" };
  const placeholder = /\$\{(\w+)\}|\{vault:\/\/env\/([\w-]+)\}/g;
  return text
    .replace(/^ *#.*$/gm, "")
    .replace(placeholder, (_, variable: string | undefined, secret = "") => {
      const name = variable ?? secret.replaceAll("-", "_").toUpperCase();
      const { POSTGREST_URL, POSTGREST_WRITER_URL = POSTGREST_URL } = env;
      const value = new Map(Object.entries({ ...env, POSTGREST_WRITER_URL, ...local })).get(name);
      if (!value) throw new Error(`${name} is not set. Set it in the environment of the gateway.`);
      return value;
    });
}

/** A route's plugin replaces the service's plugin of that name, which replaces the global one. Sorts by priority. */
function replacePlugins(plugins: Plugin[], entries: { config: Plugin }[]): Plugin[] {
  const kept = plugins.filter(({ name }) => entries.every(({ config }) => config.name !== name));
  return [...kept, ...entries.map(({ config }) => config)].sort((a, b) => b.priority - a.priority);
}
