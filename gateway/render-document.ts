import { parse } from "yaml";

/** A key that opens the service now, and the limits of its tier: a row of `access.active_keys`. */
export interface ActiveKey {
  id: string;
  tier: string;
  /** Hexadecimal. */
  key_sha256: string;
  requests_per_hour: number | null;
  requests_per_day: number | null;
  limited_by: "address" | "key";
}

/** Where the gateway's nodes keep the counters that they share. */
export interface RedisCounters {
  host: string;
  port: number;
  password?: string | undefined;
}

export interface RenderOptions {
  /** Stands in the template as `${POSTGREST_URL}`. */
  postgrestUrl: string;
  /** PostgREST of the primary server, where `postgrestUrl` reads a replica: the one call that writes goes there. */
  postgrestCallsUrl?: string | undefined;
  /** Stands in the template as `${GATEWAY_TOKEN}`. */
  gatewayToken: string;
  /** Without it each node counts for itself. */
  redis?: RedisCounters | undefined;
}

type Config = Record<string, unknown>;
interface Plugin {
  name: string;
  config: Config;
}
interface Route {
  name: string;
}
interface Service {
  name: string;
  url: string;
  routes: Route[];
  plugins: Plugin[];
}
/** Kong's declarative configuration, as far as the sync adds to it. */
export interface KongDocument {
  services: Service[];
  plugins?: Plugin[];
  consumers: {
    username: string;
    custom_id: string;
    keyauth_credentials: { key: string }[];
    plugins?: Plugin[];
  }[];
}

/** Keys of other tiers with the same limits share the service's plugin with this one. */
const limitedByDefault = "individual";
const callsRoute = "postgrest-request-file-access";
const partLength = 1_000;
/** Kong waits this long for Redis in a request, then serves it uncounted. */
const redisTimeoutMilliseconds = 500;

/**
 * Makes the whole document that a Kong node is given: the template, its variables, a consumer for each key and
 * the limits of each tier. Keys whose tier has the limits of the tier `individual` share the service's plugin;
 * the others have one of their own.
 *
 * @throws Error when the template holds an unknown variable or no rate limit
 */
export function renderDocument(template: string, options: RenderOptions, keys: ActiveKey[]): KongDocument {
  const document: KongDocument = fillIn(parse(template), {
    POSTGREST_URL: options.postgrestUrl,
    GATEWAY_TOKEN: options.gatewayToken,
  });
  const rateLimiting = document.services
    .flatMap(({ plugins }) => plugins)
    .find(({ name }) => name === "rate-limiting");
  if (rateLimiting === undefined) throw new Error("kong.yml: no service has the plugin rate-limiting.");
  const shared = keys.find(({ tier }) => tier === limitedByDefault);
  const counted = { ...rateLimiting.config, ...describeCounters(options.redis) };
  rateLimiting.config = shared === undefined ? counted : withLimits(counted, shared);

  const own = new Map<string, Plugin[] | undefined>();
  document.consumers = keys.map((key) => {
    const limits = `${key.requests_per_hour} ${key.requests_per_day} ${key.limited_by}`;
    if (!own.has(limits)) own.set(limits, describeOwnLimits(rateLimiting.config, key));
    const plugins = own.get(limits);
    return {
      // Kong derives the consumer's ID from this name, and counts by that ID.
      username: key.id,
      custom_id: key.id,
      keyauth_credentials: [{ key: key.key_sha256 }],
      ...(plugins === undefined ? {} : { plugins }),
    };
  });
  if (options.postgrestCallsUrl !== undefined) splitCalls(document, options.postgrestCallsUrl);
  return document;
}

/** The document as JSON. Made in parts, for with many keys it would stand in memory several times. */
export function serializeDocument({ consumers, ...rest }: KongDocument): Buffer {
  const parts = [`${JSON.stringify(rest).slice(0, -1)},"consumers":[`];
  for (let from = 0; from < consumers.length; from += partLength) {
    const part = JSON.stringify(consumers.slice(from, from + partLength)).slice(1, -1);
    parts.push(from === 0 ? part : `,${part}`);
  }
  parts.push("]}");
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0));
  let offset = 0;
  for (const part of parts) offset += bytes.write(part, offset);
  return bytes;
}

function describeCounters(redis: RedisCounters | undefined): Config {
  if (redis === undefined) return {};
  const { host, port, password } = redis;
  return {
    policy: "redis",
    redis: { host, port, timeout: redisTimeoutMilliseconds, ...(password === undefined ? {} : { password }) },
  };
}

function describeOwnLimits(shared: Config, key: ActiveKey): Plugin[] | undefined {
  const config = withLimits(shared, key);
  return JSON.stringify(config) === JSON.stringify(shared) ? undefined : [{ name: "rate-limiting", config }];
}

function withLimits(config: Config, key: ActiveKey): Config {
  const { hour: _hour, day: _day, ...rest } = config;
  return {
    ...(key.requests_per_hour === null ? {} : { hour: key.requests_per_hour }),
    ...(key.requests_per_day === null ? {} : { day: key.requests_per_day }),
    ...rest,
    limit_by: key.limited_by === "address" ? "ip" : "consumer",
  };
}

/**
 * Moves the route of the one call that writes to a service of its own. The plugins move from the service to the whole
 * document, so that both services have them and a key's requests are counted together.
 */
function splitCalls(document: KongDocument, url: string): void {
  const service = document.services.find(({ routes }) => routes.some(({ name }) => name === callsRoute));
  if (service === undefined) throw new Error(`kong.yml: no service has the route ${callsRoute}.`);
  const isCall = ({ name }: Route) => name === callsRoute;
  const { plugins, routes } = service;
  document.plugins = plugins;
  service.plugins = [];
  service.routes = routes.filter((route) => !isCall(route));
  document.services.push({ ...service, name: `${service.name}-calls`, url, routes: routes.filter(isCall) });
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
