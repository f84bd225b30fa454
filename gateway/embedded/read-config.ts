import { readdir } from "node:fs/promises";
import { parseDocument } from "yaml";
import { z } from "zod";
import { loadLuaPlugin, luaPluginsDirectory } from "./lua-plugin.ts";
import type { Plugin } from "./plugin.ts";
import { correlationId } from "./plugins/correlation-id.ts";
import { cors } from "./plugins/cors.ts";
import { rateLimiting } from "./plugins/rate-limiting.ts";
import { requestSizeLimiting } from "./plugins/request-size-limiting.ts";
import { orderRoutes, type Route } from "./route.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const NOT_IMPLEMENTED = "not implemented by the embedded gateway; run Kong for this";

// Requests are counted whether it is there or not.
const prometheus = z
  .strictObject({ status_code_metrics: z.boolean(), latency_metrics: z.boolean() })
  .transform((): Plugin => ({ name: "prometheus", priority: 13 }));
const describePlugin = <Config extends z.ZodType<Plugin>>(name: string, config: Config) =>
  z.strictObject({ name: z.literal(name), config });
const describedPlugins = [
  describePlugin("correlation-id", correlationId),
  describePlugin("cors", cors),
  describePlugin("rate-limiting", rateLimiting),
  describePlugin("request-size-limiting", requestSizeLimiting),
  describePlugin("prometheus", prometheus),
] as const;
const plugins = z.array(z.discriminatedUnion("name", describedPlugins)).default([]);

const milliseconds = z.int().min(1).default(60_000);
const route = z.strictObject({
  name: z.string(),
  paths: z.array(z.string().startsWith("/")).min(1),
  headers: z.record(z.string(), z.array(z.string()).min(1)).default({}),
  // Kong removes the path that a route names unless this is false; "/" makes no difference.
  strip_path: z.literal(false).optional(),
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

/** What requests are served by. */
export interface GatewayConfig {
  routes: Route[];
  /** Also for requests that match no route. */
  plugins: Plugin[];
}

/**
 * Reads gateway/kong.yml, or a text like it. POSTGREST_URL of the environment stands for its placeholder, and other variables
 * for its references to Kong's vault env.
 * @throws Error naming everything in it that is wrong or that only Kong implements, a line each.
 */
export async function readConfig(text: string, env: Environment): Promise<GatewayConfig> {
  const yaml = parseDocument(fillPlaceholders(text, env));
  if (yaml.errors[0]) throw new Error(yaml.errors[0].message.split("\n")[0], { cause: yaml.errors[0] });
  const values: unknown = yaml.toJS();
  const ownPlugins = (await readdir(luaPluginsDirectory)).map((name) => {
    const config = z.record(z.string(), z.union([z.string(), z.number()]));
    return describePlugin(
      name,
      config.transform((values) => loadLuaPlugin(name, resolveReferences(values, env))),
    );
  });
  const document = z.strictObject({
    _format_version: z.literal("3.0"),
    services: z.array(service),
    plugins: z.array(z.discriminatedUnion("name", [...describedPlugins, ...ownPlugins])).default([]),
  });
  const parsed = await document.safeParseAsync(values);
  if (!parsed.success)
    throw new Error(parsed.error.issues.flatMap((it) => describeIssue(it, values)).join("\n"));
  const globals = replacePlugins([], parsed.data.plugins);
  const routes = parsed.data.services.flatMap(({ routes, plugins, ...service }) =>
    routes.flatMap(({ name, paths, headers, plugins: own }) =>
      paths.map((path): Route => {
        return {
          name,
          path,
          headers,
          service,
          plugins: replacePlugins(replacePlugins(globals, plugins), own),
        };
      }),
    ),
  );
  return { routes: orderRoutes(routes), plugins: globals };
}

/** As gateway/start.sh does for Kong. The embedded gateway counts in its own memory. */
function fillPlaceholders(text: string, env: Environment): string {
  const values = { ...env, COUNTERS: "local", REDIS_HOST: "127.0.0.1", REDIS_PORT: "6379" };
  return text
    .replace(/^ *#.*$/gm, "")
    .replace(/\$\{(\w+)\}/g, (_, name: string) => readVariable(name, values));
}

/** {vault://env/gateway-token} is GATEWAY_TOKEN. */
function resolveReferences<Value>(
  values: Record<string, Value>,
  env: Environment,
): Record<string, Value | string> {
  const resolve = (value: Value) => {
    const [, name] = /^\{vault:\/\/env\/([\w-]+)\}$/.exec(String(value)) ?? [];
    return name === undefined ? value : readVariable(name.replaceAll("-", "_").toUpperCase(), env);
  };
  return Object.fromEntries(Object.entries(values).map(([field, value]) => [field, resolve(value)]));
}

function readVariable(name: string, env: Environment): string {
  const { [name]: value } = env;
  if (!value) throw new Error(`${name} is not set. Set it in the environment of the gateway.`);
  return value;
}

/** A route's plugin replaces the service's, and that the global one. The highest priority runs first. */
function replacePlugins(plugins: Plugin[], entries: { config: Plugin }[]): Plugin[] {
  const kept = plugins.filter(({ name }) => entries.every(({ config }) => config.name !== name));
  return [...kept, ...entries.map(({ config }) => config)].sort((a, b) => b.priority - a.priority);
}

function describeIssue(issue: z.core.$ZodIssue, document: unknown): string[] {
  const format = (path: PropertyKey[]) =>
    path
      .reduce<string>((text, it) => (typeof it === "number" ? `${text}[${it}]` : `${text}.${String(it)}`), "")
      .slice(1);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${format([...issue.path, key])}: ${NOT_IMPLEMENTED}`);
  }
  const value = issue.path.reduce<unknown>(
    (it, key) => (it as Record<PropertyKey, unknown> | undefined)?.[key],
    document,
  );
  const isKnownToKong =
    value !== undefined && (issue.code === "invalid_union" || issue.code === "invalid_value");
  const message = isKnownToKong ? `${JSON.stringify(value)} ${NOT_IMPLEMENTED}` : issue.message;
  return [`${format(issue.path)}: ${message}`];
}
