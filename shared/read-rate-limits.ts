import { readFileSync } from "node:fs";
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
  /** The limits of tiers with a line of their own in gateway/kong.yml. */
  tiers: ReadonlyMap<string, RateLimit>;
  /** The limit of every other tier. */
  others: RateLimit;
  /** How many requests run at a time, how many may wait, and how many seconds they wait. */
  atATime: { key: number; network: number; waiting: number; seconds: number };
}

/** The gateway's configuration: gateway/kong.yml, or the file that GATEWAY_CONFIG names. */
export const gatewayConfigFile = () =>
  process.env.GATEWAY_CONFIG || fileURLToPath(new URL("../gateway/kong.yml", import.meta.url));

const limit = z
  .object({ by: z.enum(["key", "network"]), hour: z.int().optional(), day: z.int().optional() })
  .transform(({ by, hour, day }): RateLimit => {
    return { hour, day, countedBy: by === "network" ? "address" : "key" };
  });
const document = z.object({ plugins: z.array(z.looseObject({ name: z.string() })) });
const singleAudit = z.object({
  config: z.object({
    limits: z.object({ default: limit }).catchall(limit),
    at_a_time: z.object({ key: z.int(), network: z.int() }),
    most_waiting: z.int(),
    longest_wait: z.int(),
  }),
});

const known = new Map<string, RateLimits>();

/**
 * Reads the rate limits, once in each process: a changed limit is deployed by replacing the programs.
 *
 * @throws Error if the file cannot be read, or does not have the structure of gateway/kong.yml
 */
export function readRateLimits(file = gatewayConfigFile()): RateLimits {
  let limits = known.get(file);
  if (limits !== undefined) return limits;
  try {
    limits = parseRateLimits(readFileSync(file, "utf8"));
  } catch (cause) {
    const advice = "Set GATEWAY_CONFIG to the gateway's kong.yml.";
    throw new Error(`The rate limits cannot be read from ${file}. ${advice}`, { cause });
  }
  known.set(file, limits);
  return limits;
}

function parseRateLimits(text: string): RateLimits {
  const { plugins } = document.parse(parse(text));
  const { limits, at_a_time, most_waiting, longest_wait } = singleAudit.parse(
    plugins.find(({ name }) => name === "single-audit"),
  ).config;
  const { default: others, ...tiers } = limits;
  const atATime = { ...at_a_time, waiting: most_waiting, seconds: longest_wait };
  return { tiers: new Map(Object.entries(tiers)), others, atATime };
}

/** Says how many requests may run at a time, and what happens to others. */
export const describeRequestsAtATime = ({
  atATime: { key, network, waiting, seconds },
}: RateLimits): string =>
  `Up to ${key} requests of a key and ${network} of a client IP run at a time, and fewer while the API is busy. Up to ${waiting} others wait, for at most ${seconds} seconds.`;

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
