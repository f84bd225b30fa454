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

/** What stands in the template as `${NAME}`. */
export interface TemplateVariables {
  POSTGREST_URL: string;
  GATEWAY_TOKEN: string;
}

type Config = Record<string, unknown>;
interface Plugin {
  name: string;
  config: Config;
}
/** Kong's declarative configuration, as far as the sync adds to it. */
export interface KongDocument {
  services: { name: string; plugins: Plugin[] }[];
  consumers: {
    username: string;
    custom_id: string;
    tags: string[];
    keyauth_credentials: { key: string }[];
    plugins?: Plugin[];
  }[];
}

const limitedByDefault = "individual";

/**
 * Makes the whole document that a Kong node is given: the template, its variables, a consumer for each key and
 * the limits of each tier. Keys whose tier has the limits of the tier `individual` share the service's plugin;
 * the others have one of their own.
 *
 * @throws Error when the template holds an unknown variable or no rate limit
 */
export function renderDocument(
  template: string,
  variables: TemplateVariables,
  keys: ActiveKey[],
): KongDocument {
  const document: KongDocument = fillIn(parse(template), variables);
  const rateLimiting = document.services
    .flatMap(({ plugins }) => plugins)
    .find(({ name }) => name === "rate-limiting");
  if (rateLimiting === undefined) throw new Error("kong.yml: no service has the plugin rate-limiting.");
  const shared = keys.find(({ tier }) => tier === limitedByDefault);
  if (shared !== undefined) rateLimiting.config = withLimits(rateLimiting.config, shared);
  const sharedConfig = JSON.stringify(rateLimiting.config);
  document.consumers = keys.map((key) => {
    const config = withLimits(rateLimiting.config, key);
    return {
      username: key.id,
      custom_id: key.id,
      tags: [key.tier],
      keyauth_credentials: [{ key: key.key_sha256 }],
      ...(JSON.stringify(config) === sharedConfig ? {} : { plugins: [{ name: "rate-limiting", config }] }),
    };
  });
  return document;
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

function fillIn<Value>(value: Value, variables: TemplateVariables): Value;
function fillIn(value: unknown, variables: TemplateVariables): unknown {
  if (typeof value === "string") {
    return value.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
      const filled = (variables as unknown as Record<string, string | undefined>)[name];
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
