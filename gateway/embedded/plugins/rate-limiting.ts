import { z } from "zod";
import { getHeader, setHeader } from "../headers.ts";
import type { Plugin } from "../plugin.ts";

const limit = z.number().positive().optional();
const config = z.strictObject({
  hour: limit,
  day: limit,
  limit_by: z.literal("header"),
  header_name: z.string(),
  policy: z.literal("local"),
  /** Used only by Kong's policy redis. */
  sync_rate: z.unknown().optional(),
  redis: z.unknown().optional(),
});

/** A calendar hour or day (UTC). */
interface Window {
  title: string;
  limit: number;
  seconds: number;
  /** When the window began (Unix time in seconds). `counts` has each client's requests since then. */
  start: number;
  counts: Map<string, number>;
}

/** Counts requests by a header's value, or else by IP address. Refuses requests over a limit without counting them. */
export const rateLimiting = config.transform((config): Plugin => {
  const windows: Window[] = [];
  const add = (title: string, seconds: number, limit = 0) =>
    limit > 0 && windows.push({ title, limit, seconds, start: 0, counts: new Map() });
  add("Hour", 3600, config.hour);
  add("Day", 86_400, config.day);
  const header = config.header_name.toLowerCase();
  return {
    name: "rate-limiting",
    priority: 910,
    access({ headers, address, answerHeaders }) {
      const client = getHeader(headers, header) || address;
      const now = Math.floor(Date.now() / 1000);
      for (const window of windows) {
        const start = now - (now % window.seconds);
        if (window.start !== start) Object.assign(window, { start, counts: new Map() });
      }
      const isOver = windows.some(({ counts, limit }) => (counts.get(client) ?? 0) >= limit);
      let tightest = { limit: 0, remaining: Number.POSITIVE_INFINITY, reset: 1 };
      for (const { title, limit, counts, start, seconds } of windows) {
        const count = (counts.get(client) ?? 0) + (isOver ? 0 : 1);
        counts.set(client, count);
        const remaining = Math.max(0, limit - count);
        setHeader(answerHeaders, `X-RateLimit-Limit-${title}`, limit);
        setHeader(answerHeaders, `X-RateLimit-Remaining-${title}`, remaining);
        // If two windows have the same number left, the longer one wins.
        if (remaining <= tightest.remaining) tightest = { limit, remaining, reset: start + seconds - now };
      }
      for (const prefix of ["", "X-"]) {
        setHeader(answerHeaders, `${prefix}RateLimit-Limit`, tightest.limit);
        setHeader(answerHeaders, `${prefix}RateLimit-Remaining`, tightest.remaining);
      }
      setHeader(answerHeaders, "RateLimit-Reset", tightest.reset);
      if (!isOver) return undefined;
      setHeader(answerHeaders, "Retry-After", tightest.reset);
      return { status: 429 };
    },
  };
});
