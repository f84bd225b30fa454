import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { readRateLimits } from "../../service/read-rate-limits.ts";
import { type Answer, makeAddress, type Request, request as send, target } from "../support/target.ts";

// Windows are calendar hours (UTC): a test that starts at the end of one waits for the next.
async function waitForRoomInTheHour(): Promise<void> {
  const hour = 3_600_000;
  const left = hour - (Date.now() % hour);
  if (left < 20_000) await sleep(left + 500);
}

// With its counters in Redis, Kong updates them 50 times a second (sync_rate), and a request that follows sooner sees an
// older count.
const isInRedis = process.env.COUNTERS === "redis";
const pause = isInRedis ? 100 : 0;

async function request(path: string, options: Request = {}): Promise<Answer> {
  await sleep(pause);
  return await send(path, options);
}

const limits = readRateLimits();
const { hour = 0, day = 0 } = limits.tiers.get("demo") ?? {};

it("the demonstration key gets as many responses per hour and address as the gateway allows, and then 429", async () => {
  await waitForRoomInTheHour();
  const from = makeAddress();
  for (let count = 1; count <= hour; count += 1) {
    const answer = await request("/general?limit=1&select=report_id", { key: "demo", from });
    expect(answer.status, `request ${count}`).toBe(200);
    expect(answer.headers["x-ratelimit-limit-hour"]).toBe(String(hour));
    expect(answer.headers["x-ratelimit-remaining-hour"]).toBe(String(hour - count));
    expect(answer.headers["x-ratelimit-limit-day"]).toBe(String(day));
    expect(answer.headers["x-ratelimit-remaining-day"]).toBe(String(day - count));
    // Of two limits, the one with fewer requests left.
    expect(answer.headers["x-ratelimit-limit"]).toBe(String(hour));
    expect(answer.headers["x-ratelimit-remaining"]).toBe(String(hour - count));
  }
  // In Redis, Kong counts the first request that it refuses, takes that back, and so answers one more.
  for (let extra = 0; isInRedis && extra < 2; extra += 1) {
    await request("/general?limit=1&select=report_id", { key: "demo", from });
  }
  const claims: Record<string, string>[] = [
    {},
    { "x-forwarded-for": "203.0.113.7" },
    { "x-real-ip": "203.0.113.7" },
    { "x-client-network": "203.0.113.7" },
    { forwarded: "for=203.0.113.7" },
  ];
  for (const headers of claims) {
    const answer = await request("/general?limit=1", { key: "demo", from, headers });
    expect(answer.status, JSON.stringify(headers)).toBe(429);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(answer.headers["retry-after"])).toBeLessThanOrEqual(3600);
    expect(answer.headers["x-ratelimit-remaining-hour"]).toBe("0");
    // Kong counts refused requests toward the day's limit if its counters are in Redis.
    const remaining = Number(answer.headers["x-ratelimit-remaining-day"]);
    expect(remaining).toBeLessThanOrEqual(day - hour);
    expect(remaining).toBeGreaterThanOrEqual(isInRedis ? day - hour - 2 - claims.length : day - hour);
    expect(answer.headers["x-ratelimit-remaining"]).toBe("0");
    expect(answer.json).toMatchObject({ code: "OVER_RATE_LIMIT", error: { code: "OVER_RATE_LIMIT" } });
    expect(answer.json.message).toBe(answer.json.error.message);
    expect(answer.json.message).toContain("Retry-After");
  }
  expect((await request(`/general?limit=1&api_key=${target.keys.demo}`, { from })).status).toBe(429);
  expect((await request("/general?limit=1", { key: "demo", from: makeAddress() })).status).toBe(200);
  expect((await request("/general?limit=1", { key: "individual", from })).status).toBe(200);
});

it("an individual key is limited by itself, wherever it is used from", async () => {
  await waitForRoomInTheHour();
  const remaining = async () => {
    const answer = await request("/general?limit=1", { key: "individual", from: makeAddress() });
    expect(answer.headers["x-ratelimit-limit-hour"]).toBe(String(limits.others.hour));
    return Number(answer.headers["x-ratelimit-remaining-hour"]);
  };
  const before = await remaining();
  expect(await remaining()).toBe(before - 1);
});
