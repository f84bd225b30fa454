import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunningKong } from "../support/start-kong.ts";
import { redisProgram } from "../support/start-redis.ts";
import { issueKey, kongProgram, onClose, redisLog, send, startSharedRedis, useGateways } from "./gateways.ts";

// Two gateways of two workers each share their counts in a Redis. Needs real Kong (KONG_BIN), and redis-server or
// valkey-server on the PATH.

const isPossible = kongProgram !== undefined && redisProgram !== undefined;
/** A request that waits for Redis ends at the latest after this time (redis_counts.lua). */
const longestWait = 100;
const limit = 1000;
useGateways();

let gateways: RunningKong[] = [];
let redis: Awaited<ReturnType<typeof startSharedRedis>>;

beforeAll(async () => {
  if (!isPossible) return;
  redis = await startSharedRedis(
    { demo: { by: "network", hour: 30, day: 50 }, default: { by: "key", hour: limit } },
    { KONG_NGINX_PROXY_LIMIT_CONN: "clients 1000" },
  );
  gateways = [await redis.startGateway(), await redis.startGateway()];
});

// Windows are calendar hours, so a test that starts at the end of one waits for the next.
beforeEach(async () => {
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 40_000) await sleep(left + 500);
});

const makeKey = () => issueKey(randomBytes(16).toString("hex"));
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
onClose(() => agent.destroy());

interface Outcome {
  status: number;
  milliseconds: number;
  remaining: number;
}

let next = 0;
async function ask(key: string, localAddress?: string): Promise<Outcome> {
  const { url } = gateways[next++ % gateways.length] as RunningKong;
  const start = performance.now();
  const options = {
    headers: { "x-api-key": key },
    ...(localAddress === undefined ? { agent } : { localAddress }),
  };
  const { status, headers } = await send(url, "/general", options);
  const remaining = Number(headers["x-ratelimit-remaining-hour"]);
  return { status, milliseconds: performance.now() - start, remaining };
}

/** Sends this many requests, some at a time, over both gateways. */
async function askOften(
  count: number,
  atATime: number,
  key: string,
  localAddress?: string,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let left = count;
  const work = async () => {
    while (left-- > 0) outcomes.push(await ask(key, localAddress));
  };
  await Promise.all(Array.from({ length: atATime }, work));
  return outcomes;
}
const countPassed = (outcomes: Outcome[]) => outcomes.filter(({ status }) => status === 200).length;

/** Counts the lines of both gateways' logs that contain this text. */
async function countLines(text: string) {
  const logs = await Promise.all(gateways.map(({ readLog }) => readLog()));
  return logs.map((log) => log.split("\n").filter((line) => line.includes(text)).length);
}
const { away, back } = redisLog;

describe.skipIf(!isPossible)("gateways that share a Redis", () => {
  it.each([1, 4, 24, 100])(
    "let exactly 30 requests of a client with DEMO_KEY pass, %i at a time",
    async (atATime) => {
      const address = `127.0.1.${atATime}`;
      const outcomes = await askOften(120, atATime, "DEMO_KEY", address);
      expect(countPassed(outcomes)).toBe(30);
    },
  );

  it.each([4, 24, 100])("let exactly 1,000 requests with a key pass, %i at a time", async (atATime) => {
    expect(countPassed(await askOften(1300, atATime, makeKey()))).toBe(limit);
  });

  it("count each request once although Redis pauses, and tell it what they counted meanwhile", async () => {
    const key = makeKey();
    const asked = askOften(600, 8, key);
    for (const _ of [1, 2, 3]) {
      await sleep(200);
      redis.freeze();
      await sleep(300);
      redis.thaw();
    }
    const outcomes = await asked;
    expect(countPassed(outcomes)).toBe(600);
    await sleep(500);
    for (const passed of [601, 602, 603, 604]) expect((await ask(key)).remaining).toBe(limit - passed);
  });

  it.each([700, 850, 950])(
    "let at most 1,100 of 1,000 pass if Redis pauses from request %i on",
    async (from) => {
      const key = makeKey();
      const outcomes: Outcome[] = [];
      const end = performance.now() + 12_000;
      const work = async () => {
        while (performance.now() < end) {
          outcomes.push(await ask(key));
          await sleep(12);
        }
      };
      const working = Promise.all(Array.from({ length: 8 }, work));
      while (countPassed(outcomes) < from) await sleep(5);
      for (const _ of [1, 2, 3]) {
        redis.freeze();
        await sleep(300);
        redis.thaw();
        await sleep(500);
      }
      await working;
      expect(countPassed(outcomes)).toBeGreaterThanOrEqual(limit);
      expect(countPassed(outcomes)).toBeLessThanOrEqual(1100);
    },
  );

  it("make only the first requests wait while Redis is frozen, use the last counts, and log it once", async () => {
    const key = makeKey();
    const [before, backBefore] = [await countLines(away), await countLines(back)];
    await askOften(limit - 24, 8, key);
    // Each gateway learns what the other has counted.
    await askOften(4, 1, key);
    redis.freeze();
    const outcomes = await askOften(600, 8, key);
    await sleep(3000);
    redis.thaw();
    // Each gateway knows of at least the requests that had passed, and lets at most the rest of them pass.
    expect(countPassed(outcomes)).toBeLessThanOrEqual(2 * 20 + 8);
    // A busy machine delays requests too, but if all of them waited for Redis, none would be faster than a wait.
    const fast = outcomes.filter(({ milliseconds }) => milliseconds < longestWait);
    expect(fast.length).toBeGreaterThan(outcomes.length / 4);
    await expect.poll(() => countLines(back)).toEqual(backBefore.map((count) => count + 1));
    expect(await countLines(away)).toEqual(before.map((count) => count + 1));
    expect((await askOften(20, 4, key)).every(({ status }) => status === 429)).toBe(true);
  });

  it("tell Redis the counts of all keys meanwhile, even if their clients do not come back", async () => {
    const keys = Array.from({ length: 300 }, makeKey);
    const [near, far] = gateways.map(({ url }) => url) as [string, string];
    const askAt = (url: string, key: string) =>
      send(url, "/general", { agent, headers: { "x-api-key": key } });
    redis.freeze();
    await Promise.all(keys.map((key) => askAt(near, key)));
    redis.thaw();
    await sleep(3000);
    for (const key of keys) {
      const { headers } = await askAt(far, key);
      expect(headers["x-ratelimit-remaining-hour"]).toBe(String(limit - 2));
    }
  });

  it.each([
    ["a replica", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"],
    ["full", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"],
  ])(
    "count alone while Redis refuses writes because it is %s, log it once, and tell it their counts",
    async (_, refuse, allow) => {
      const [before, backBefore, key] = [await countLines(away), await countLines(back), makeKey()];
      await redis.run(refuse);
      const outcomes = await askOften(600, 8, key);
      await sleep(1000);
      await redis.run(allow);
      await sleep(1500);
      expect(countPassed(outcomes)).toBe(600);
      await askOften(2, 1, key);
      expect((await ask(key)).remaining).toBe(limit - 603);
      expect(await countLines(away)).toEqual(before.map((count) => count + 1));
      expect(await countLines(back)).toEqual(backBefore.map((count) => count + 1));
    },
  );

  it("give Redis their counts back if it restarts empty", async () => {
    const key = makeKey();
    await askOften(400, 8, key);
    await redis.stop();
    await askOften(100, 8, key);
    await redis.restart();
    await sleep(1500);
    await askOften(2, 1, key);
    expect((await ask(key)).remaining).toBe(limit - 503);
  });
});
