import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { z } from "zod";

/** Requests in a calendar hour and day (UTC), counted for each key or for each client address. */
export interface RateLimit {
  hour: number | undefined;
  day: number | undefined;
  countedBy: "key" | "address";
}

export interface RateLimits {
  /** The limits of tiers with a route of their own in gateway/kong.yml. */
  tiers: ReadonlyMap<string, RateLimit>;
  /** The limit of every other tier. */
  others: RateLimit;
}

/** The gateway's configuration: gateway/kong.yml, or the file that GATEWAY_CONFIG names. */
export const gatewayConfigFile = () =>
  process.env.GATEWAY_CONFIG || fileURLToPath(new URL("../gateway/kong.yml", import.meta.url));

const config = z.object({
  hour: z.int().optional(),
  day: z.int().optional(),
  header_name: z.string().optional(),
});
const plugins = z.array(z.object({ name: z.string(), config: config.default({}) }));
const document = z.object({
  services: z.tuple([
    z.object({
      plugins,
      routes: z.array(
        z.object({
          headers: z.object({ "X-Api-Key-Tier": z.array(z.string()) }).optional(),
          plugins: plugins.optional(),
        }),
      ),
    }),
  ]),
});

let last: { file: string; modifiedAt: number; limits: RateLimits } | undefined;

/**
 * Reads the rate limits, again if the file has changed. If the file has become unreadable, returns the last limits: the
 * gateway does not start with such a file either.
 *
 * @throws Error if the file was never readable, or does not have the structure of gateway/kong.yml
 */
export function readRateLimits(file = gatewayConfigFile()): RateLimits {
  try {
    const modifiedAt = statSync(file).mtimeMs;
    if (last?.file !== file || last.modifiedAt !== modifiedAt) {
      last = { file, modifiedAt, limits: parseRateLimits(readFileSync(file, "utf8")) };
    }
  } catch (error) {
    if (last?.file !== file) {
      throw new Error(
        `The rate limits cannot be read from ${file}. Set GATEWAY_CONFIG to the gateway's kong.yml.`,
        {
          cause: error,
        },
      );
    }
  }
  return last.limits;
}

function parseRateLimits(text: string): RateLimits {
  const {
    services: [service],
  } = document.parse(parse(text));
  const others = findLimit(service.plugins);
  if (others === undefined)
    throw new Error("The Kong service has no rate-limiting plugin. Add one, as in gateway/kong.yml.");
  const tiers = service.routes.flatMap(({ headers, plugins = [] }) => {
    const limit = findLimit(plugins);
    return limit === undefined
      ? []
      : (headers?.["X-Api-Key-Tier"] ?? []).map((tier) => [tier, limit] as const);
  });
  return { tiers: new Map(tiers), others };
}

function findLimit(list: z.output<typeof plugins>): RateLimit | undefined {
  const config = list.find(({ name }) => name === "rate-limiting")?.config;
  if (config === undefined) return undefined;
  return {
    hour: config.hour,
    day: config.day,
    countedBy: config.header_name === "X-Client-Network" ? "address" : "key",
  };
}

/** A tier's limit in words, such as "30 requests an hour and 50 a day for each client IP". */
export function describeRateLimit({ tiers, others }: RateLimits, tier: string): string {
  const { hour, day, countedBy } = tiers.get(tier) ?? others;
  const counts = [
    ...(hour === undefined ? [] : [`${hour.toLocaleString("en-US")} requests an hour`]),
    ...(day === undefined
      ? []
      : [`${day.toLocaleString("en-US")} ${hour === undefined ? "requests " : ""}a day`]),
  ];
  return `${counts.join(" and ")}${countedBy === "address" ? " for each client IP" : ""}`;
}
