import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import type { Exchange, Plugin } from "../plugin.ts";

/** Seconds, the shortest first. Windows are those of the calendar (UTC). */
const PERIODS = { hour: 3600, day: 86_400 };

const limit = z.number().positive().optional();
const config = z.strictObject({
  hour: limit,
  day: limit,
  limit_by: z.enum(["ip", "header"]),
  header_name: z.string().default(""),
  policy: z.literal("local"),
  /** For Kong's policy redis. */
  sync_rate: z.unknown().optional(),
  redis: z.unknown().optional(),
});

interface Window {
  title: string;
  limit: number;
  seconds: number;
  /** When the window began, and how often each client has asked since. */
  start: number;
  counts: Map<string, number>;
}

/** Counts requests by address or header, and refuses those over a limit, which are not counted. */
export const rateLimiting = config.transform((config): Plugin => {
  const windows = Object.entries(PERIODS).flatMap(([period, seconds]): Window[] => {
    const limit = config[period as keyof typeof PERIODS];
    const title = period.charAt(0).toUpperCase() + period.slice(1);
    return limit === undefined ? [] : [{ title, limit, seconds, start: 0, counts: new Map() }];
  });
  const header = config.limit_by === "header" ? config.header_name.toLowerCase() : undefined;
  return {
    name: "rate-limiting",
    priority: 910,
    access(exchange) {
      const client = (header && getHeader(exchange.headers, header)) || exchange.address;
      const now = Math.floor(Date.now() / 1000);
      for (const window of windows) {
        const start = now - (now % window.seconds);
        if (window.start !== start) Object.assign(window, { start, counts: new Map() });
      }
      const countOf = ({ counts }: Window) => counts.get(client) ?? 0;
      const isOver = windows.some((window) => countOf(window) >= window.limit);
      if (!isOver) for (const window of windows) window.counts.set(client, countOf(window) + 1);
      const reset = describeUsage(exchange, windows, countOf, now);
      if (!isOver) return undefined;
      setHeader(exchange.answerHeaders, "Retry-After", reset);
      return { status: 429 };
    },
  };
});

/** Sets X-RateLimit-* for every window and RateLimit-* for the tightest; returns the seconds until that one ends. */
function describeUsage(
  { answerHeaders: headers }: Exchange,
  windows: Window[],
  countOf: (window: Window) => number,
  now: number,
): number {
  let tightest = { limit: 0, remaining: Number.POSITIVE_INFINITY, reset: 1 };
  for (const window of windows) {
    const { title, limit } = window;
    const remaining = Math.max(0, limit - countOf(window));
    setHeader(headers, `X-RateLimit-Limit-${title}`, limit);
    setHeader(headers, `X-RateLimit-Remaining-${title}`, remaining);
    // Of equals the longest counts.
    const reset = window.start + window.seconds - now;
    if (remaining <= tightest.remaining) tightest = { limit, remaining, reset };
  }
  for (const prefix of ["", "X-"]) {
    setHeader(headers, `${prefix}RateLimit-Limit`, tightest.limit);
    setHeader(headers, `${prefix}RateLimit-Remaining`, tightest.remaining);
  }
  setHeader(headers, "RateLimit-Reset", tightest.reset);
  return tightest.reset;
}
