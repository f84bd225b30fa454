import { parse } from "yaml";
import type { ActiveKey, TierLimits } from "./active-keys.ts";
import { deriveId, type Entity, ownerTag } from "./entity.ts";

/** Where the gateway's nodes keep the counters that they share. */
export interface RedisCounters {
  host: string;
  port: number;
  /** Whether Kong finds a password in its own environment, as REDIS_PASSWORD. */
  hasPassword: boolean;
}

export interface RenderOptions {
  /** Like `gateway/kong.yml`. */
  template: string;
  /** Stands in the template as `${POSTGREST_URL}`. */
  postgrestUrl: string;
  /** PostgREST of the primary server, where `postgrestUrl` reads a replica: the one call that writes goes there. */
  postgrestCallsUrl?: string | undefined;
  /** Without it each node counts for itself. */
  redis?: RedisCounters | undefined;
}

type Config = Record<string, unknown>;
interface Plugin {
  name: string;
  config: Config;
  tags?: string[];
}
interface Route {
  name: string;
  plugins?: Plugin[];
  tags?: string[];
}
interface Service {
  name: string;
  url: string;
  routes: Route[];
  plugins: Plugin[];
  tags?: string[];
}
interface Template {
  services: Service[];
  plugins?: Plugin[];
}

/** What Kong is to have whatever keys there are. */
export interface BaseEntities {
  services: Entity[];
  routes: Entity[];
  plugins: Entity[];
  /** The limits that all keys share but those with a plugin of their own. */
  sharedLimits: Config;
}

/** What Kong is to have for one key. All have the key's own ID. */
export interface KeyEntities {
  consumer: Entity;
  credential: Entity;
  /** Absent where the limits are the shared ones. */
  plugin: Entity | undefined;
}

const callsRoute = "postgrest-request-file-access";
/** Kong waits this long for Redis in a request, then serves it uncounted. */
const redisTimeoutMilliseconds = 500;
/** Kong reads it from its own environment (Kong: vault `env`), so that its database holds no password. */
const redisPassword = "{vault://env/redis-password}";
const tags = [ownerTag];

/**
 * Services, routes and plugins of the template. `shared` are the limits of the tier `individual`, which stand in place of
 * the template's own when they are known.
 *
 * @throws Error when the template holds an unknown variable or no rate limit
 */
export function renderBase(options: RenderOptions, shared: TierLimits | undefined): BaseEntities {
  const template: Template = fillIn(parse(options.template), { POSTGREST_URL: options.postgrestUrl });
  const rateLimiting = template.services
    .flatMap(({ plugins }) => plugins)
    .find(({ name }) => name === "rate-limiting");
  if (rateLimiting === undefined) throw new Error("kong.yml: no service has the plugin rate-limiting.");
  const counted = { ...rateLimiting.config, ...describeCounters(options.redis) };
  rateLimiting.config = shared === undefined ? counted : withLimits(counted, shared);
  if (options.postgrestCallsUrl !== undefined) splitCalls(template, options.postgrestCallsUrl);

  const base: BaseEntities = { services: [], routes: [], plugins: [], sharedLimits: rateLimiting.config };
  const addPlugins = (plugins: Plugin[] | undefined, scope: Record<string, { id: string }>, of: string) => {
    for (const plugin of plugins ?? []) {
      const id = deriveId(`plugins:${of}:${plugin.name}`);
      base.plugins.push({ ...plugin, ...scope, id, tags: withOwner(plugin.tags) });
    }
  };
  addPlugins(template.plugins, {}, "");
  for (const { routes, plugins, ...service } of template.services) {
    const id = deriveId(`services:${service.name}`);
    base.services.push({ ...service, id, tags: withOwner(service.tags) });
    addPlugins(plugins, { service: { id } }, service.name);
    for (const { plugins: own, ...route } of routes) {
      const routeId = deriveId(`routes:${route.name}`);
      base.routes.push({ ...route, service: { id }, id: routeId, tags: withOwner(route.tags) });
      addPlugins(own, { route: { id: routeId } }, `${service.name}/${route.name}`);
    }
  }
  return base;
}

/** Consumer, credential and, where the tier's limits are not the shared ones, the limits of a key. */
export function renderKey({ sharedLimits }: Pick<BaseEntities, "sharedLimits">, key: ActiveKey): KeyEntities {
  const { id } = key;
  const config = withLimits(sharedLimits, key.limits);
  const hasShared = JSON.stringify(config) === JSON.stringify(sharedLimits);
  return {
    consumer: { id, username: id, custom_id: id, tags },
    credential: { id, key: key.key_sha256, consumer: { id }, tags },
    plugin: hasShared ? undefined : { id, name: "rate-limiting", consumer: { id }, config, tags },
  };
}

function withOwner(more: string[] = []): string[] {
  return [ownerTag, ...more];
}

function describeCounters(redis: RedisCounters | undefined): Config {
  if (redis === undefined) return {};
  const { host, port, hasPassword } = redis;
  const password = hasPassword ? { password: redisPassword } : {};
  return { policy: "redis", redis: { host, port, timeout: redisTimeoutMilliseconds, ...password } };
}

function withLimits(config: Config, limits: TierLimits): Config {
  const { hour: _hour, day: _day, ...rest } = config;
  return {
    ...(limits.requests_per_hour === null ? {} : { hour: limits.requests_per_hour }),
    ...(limits.requests_per_day === null ? {} : { day: limits.requests_per_day }),
    ...rest,
    limit_by: limits.limited_by === "address" ? "ip" : "consumer",
  };
}

/**
 * Moves the route of the one call that writes to a service of its own. The plugins move from the service to all
 * services, so that both have them and a key's requests are counted together.
 */
function splitCalls(template: Template, url: string): void {
  const service = template.services.find(({ routes }) => routes.some(({ name }) => name === callsRoute));
  if (service === undefined) throw new Error(`kong.yml: no service has the route ${callsRoute}.`);
  const isCall = ({ name }: Route) => name === callsRoute;
  const { plugins, routes } = service;
  template.plugins = plugins;
  service.plugins = [];
  service.routes = routes.filter((route) => !isCall(route));
  template.services.push({ ...service, name: `${service.name}-calls`, url, routes: routes.filter(isCall) });
}

function fillIn<Value>(value: Value, variables: Record<string, string>): Value;
function fillIn(value: unknown, variables: Record<string, string>): unknown {
  if (typeof value === "string") {
    return value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
      const filled = variables[name];
      if (filled === undefined) throw new Error(`kong.yml: unknown variable \${${name}}.`);
      return filled;
    });
  }
  if (Array.isArray(value)) return value.map((item) => fillIn(item, variables));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillIn(item, variables)]));
  }
  return value;
}
