import type { RateLimiterMemory } from "rate-limiter-flexible";
import { z } from "zod";
import { answerError } from "../error-answers.ts";
import { setHeader } from "../headers.ts";
import type { Exchange, Plugin, PluginScope } from "./plugin.ts";

/** Seconds. Calendar windows (UTC): each begins at a multiple of its length since 1970. */
const WINDOWS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;
const PERIODS = ["second", "minute", "hour", "day"] as const;
type Period = keyof typeof WINDOWS;

const limit = z.number().positive().optional();
const config = z
  .strictObject({
    second: limit,
    minute: limit,
    hour: limit,
    day: limit,
    limit_by: z.enum(["consumer", "credential", "ip"]).default("consumer"),
    policy: z.enum(["local", "redis"]).default("local"),
    /** Read by Kong only: one process counts in its own memory, whatever the policy. */
    redis: z
      .strictObject({
        host: z.string(),
        port: z.number().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
        database: z.number().optional(),
        timeout: z.number().optional(),
        ssl: z.boolean().optional(),
        ssl_verify: z.boolean().optional(),
        server_name: z.string().optional(),
      })
      .optional(),
    sync_rate: z.literal(-1).optional(),
    /** Memory does not fail, so either value means the same here. */
    fault_tolerant: z.boolean().default(true),
    hide_client_headers: z.boolean().default(false),
    error_code: z.int().min(400).max(599).default(429),
    error_message: z.string().default("API rate limit exceeded"),
  })
  .superRefine((config, context) => {
    const set = PERIODS.filter((period) => config[period] !== undefined);
    if (set.length === 0)
      context.addIssue({ code: "custom", message: `at least one of ${PERIODS.join(", ")}` });
    for (const [index, period] of set.entries()) {
      const shorter = set.slice(0, index).find((other) => (config[other] ?? 0) > (config[period] ?? 0));
      if (shorter) {
        context.addIssue({
          code: "custom",
          path: [period],
          message: `the limit for a ${period} cannot be lower than the limit for a ${shorter}`,
        });
      }
    }
  });
type Config = z.output<typeof config>;

interface Usage {
  period: Period;
  limit: number;
  remaining: number;
  key: string;
  secondsLeft: number;
}

/** Counts the requests of a consumer, a credential or an address, and refuses those over the limit. */
export const rateLimiting: Plugin<Config> = {
  name: "rate-limiting",
  priority: 910,
  onConsumers: true,
  config,
  create(config, scope) {
    const limits = PERIODS.flatMap((period) => {
      const limit = config[period];
      return limit === undefined ? [] : [{ period, limit }];
    });
    return {
      async access(exchange) {
        const prefix = `${scopeKey(scope)}:${identify(exchange, config.limit_by)}`;
        const usage = await countRequest(exchange.counters, prefix, limits);
        const stop = usage.findLast((window) => window.remaining <= 0);
        const reset = config.hide_client_headers ? undefined : describeUsage(exchange, usage, stop);
        if (stop) {
          await Promise.all(usage.map(({ key }) => exchange.counters.reward(key)));
          if (reset !== undefined) setHeader(exchange.response, "Retry-After", String(reset));
          return answerError(exchange, config.error_code, config.error_message);
        }
        return undefined;
      },
    };
  },
};

/**
 * Kong's counter key holds the service and route that carry the plugin, but not the consumer: all consumers
 * that carry one share their counters where they are limited by address.
 */
function scopeKey(scope: PluginScope): string {
  return JSON.stringify([scope.route ?? null, scope.service ?? null]);
}

function identify(exchange: Exchange, limitBy: Config["limit_by"]): string {
  const identity = limitBy === "ip" ? undefined : exchange.identity;
  if (!identity) return exchange.clientAddress;
  return limitBy === "consumer" ? identity.consumer.id() : identity.credentialId();
}

/**
 * The library counts and forgets; the window's start in the key and what is left of it as duration make its
 * windows those of the calendar. Each request is counted at once, so that no other one, pipelined or not, sees the
 * same number; a request that any window refuses is taken back from all.
 */
async function countRequest(
  counters: RateLimiterMemory,
  prefix: string,
  limits: { period: Period; limit: number }[],
): Promise<Usage[]> {
  const now = Date.now() / 1000;
  return Promise.all(
    limits.map(async ({ period, limit }) => {
      const start = Math.floor(now / WINDOWS[period]) * WINDOWS[period];
      const key = `${prefix}:${start}:${period}`;
      const secondsLeft = start + WINDOWS[period] - now;
      const { consumedPoints } = await counters.penalty(key, 1, { customDuration: secondsLeft + 1 });
      return { period, limit, remaining: Math.max(0, limit + 1 - consumedPoints), key, secondsLeft };
    }),
  );
}

/** Sets the `X-RateLimit-*` of every window and `RateLimit-*` of the tightest; returns its reset in seconds. */
function describeUsage(exchange: Exchange, usage: Usage[], stop: Usage | undefined): number {
  let tightest: { limit: number; remaining: number; reset: number } | undefined;
  for (const window of usage) {
    const counted = stop === undefined || stop === window;
    const remaining = Math.max(0, window.remaining - (counted ? 1 : 0));
    const title = window.period.charAt(0).toUpperCase() + window.period.slice(1);
    setHeader(exchange.response, `X-RateLimit-Limit-${title}`, String(window.limit));
    setHeader(exchange.response, `X-RateLimit-Remaining-${title}`, String(remaining));
    // Windows come in order of length, so of equals the longest is kept.
    if (!tightest || remaining <= tightest.remaining) {
      tightest = { limit: window.limit, remaining, reset: Math.max(1, Math.ceil(window.secondsLeft)) };
    }
  }
  if (!tightest) return 1;
  setHeader(exchange.response, "RateLimit-Limit", String(tightest.limit));
  setHeader(exchange.response, "RateLimit-Remaining", String(tightest.remaining));
  setHeader(exchange.response, "RateLimit-Reset", String(tightest.reset));
  return tightest.reset;
}
