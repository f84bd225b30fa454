import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { RunningKong } from "../support/start-kong.ts";
import { redisProgram } from "../support/start-redis.ts";
import {
  hash,
  issueKey,
  kongProgram,
  nameClient,
  onClose,
  redisLog,
  send,
  startSharedRedis,
  useGateways,
} from "./gateways.ts";

// Two gateways of two workers each share their counts in a Redis. Needs real Kong (KONG_BIN), and redis-server or
// valkey-server on the PATH.

/** How many keys a test makes up, for a gateway and a Redis that hold a thirtieth of what they hold in production. */
const madeUpKeys = 6000;
const isPossible = kongProgram !== undefined && redisProgram !== undefined;
const limit = 1000;
useGateways();

let gateways: RunningKong[] = [];
let redis: Awaited<ReturnType<typeof startSharedRedis>>;

beforeAll(async () => {
  if (!isPossible) return;
  redis = await startSharedRedis({
    demo: { by: "network", hour: 30, day: 50 },
    default: { by: "key", hour: limit },
  });
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
  remaining: number;
}

let next = 0;
const nextGateway = () => gateways[next++ % gateways.length] as RunningKong;
async function ask(key: string, localAddress?: string, { url } = nextGateway()): Promise<Outcome> {
  const options = {
    headers: { "x-api-key": key },
    ...(localAddress === undefined ? { agent } : { localAddress }),
  };
  const { status, headers } = await send(url, "/general", options);
  const remaining = Number(headers["x-ratelimit-remaining-hour"]);
  return { status, remaining };
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

/** Counts the exchanges of a window that Redis ran: `probe`, or the window of a key. */
const countExchanges = (commands: string, window: string) =>
  commands.split("\n").filter((line) => line.includes(`lua] "HGETALL"`) && line.includes(window)).length;
/** A worker that waits for Redis too long counts alone until Redis answers its probe. A busy machine causes this, too. */
const countProbes = (commands: string) => countExchanges(commands, '"probe"');

/** Runs requests, and returns how many passed, and whether both gateways exchanged the number of each with Redis. */
async function askWatched(run: () => Promise<Outcome[]>) {
  const watched = await redis.watch();
  const passed = countPassed(await run());
  const isShared = countProbes(watched.read()) === 0;
  watched.stop();
  return { passed, isShared };
}

/**
 * Sends requests until a response counts every request that passed, and each once. On a busy machine, a worker may count alone
 * for a moment.
 */
async function expectAllCounted(key: string, passed: number, askOnce = () => ask(key)): Promise<void> {
  let sent = passed;
  const countUnknown = async () => {
    sent += 1;
    return sent - (limit - (await askOnce()).remaining);
  };
  await expect.poll(countUnknown).toBe(0);
}

describe.skipIf(!isPossible)("gateways that share a Redis", () => {
  it.each([1, 4, 24, 100])(
    "let exactly 30 requests of a client with DEMO_KEY pass, %i at a time",
    async (atATime) => {
      const address = `127.0.1.${atATime}`;
      const { passed, isShared } = await askWatched(() => askOften(120, atATime, "DEMO_KEY", address));
      if (isShared) expect(passed).toBe(30);
      expect(passed).toBeLessThanOrEqual(2 * 30);
    },
  );

  it.each([4, 24, 100])("let exactly 1,000 requests with a key pass, %i at a time", async (atATime) => {
    const { passed, isShared } = await askWatched(() => askOften(1300, atATime, makeKey()));
    if (isShared) expect(passed).toBe(limit);
    expect(passed).toBeGreaterThanOrEqual(limit);
    expect(passed).toBeLessThanOrEqual(1100);
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
    await expect.poll(() => redis.sumCounts(key)).toBe(600);
    await expectAllCounted(key, 600);
  });

  it.each([700, 850, 950])(
    "let at most 1,100 of 1,000 pass if Redis pauses from request %i on",
    async (from) => {
      const key = makeKey();
      const outcomes: Outcome[] = [];
      let isOver = false;
      const work = async () => {
        while (!isOver || outcomes.length < 1.5 * limit) {
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
      isOver = true;
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
    const watched = await redis.watch();
    redis.freeze();
    const outcomes = await askOften(600, 8, key);
    const awayOnce = before.map((count) => count + 1);
    await expect.poll(() => countLines(away)).toEqual(awayOnce);
    redis.thaw();
    // Each gateway knows of at least the requests that had passed, and lets at most the rest of them pass.
    expect(countPassed(outcomes)).toBeLessThanOrEqual(2 * 20 + 8);
    await expect.poll(() => countLines(back)).toEqual(backBefore.map((count) => count + 1));
    expect(await countLines(away)).toEqual(awayOnce);
    // A request that waits sends its number, which Redis reads once it runs again.
    expect(countExchanges(watched.read(), nameClient(key))).toBeLessThan(outcomes.length / 4);
    watched.stop();
    expect((await askOften(20, 4, key)).every(({ status }) => status === 429)).toBe(true);
  });

  it("tell Redis the counts of all keys meanwhile, even if their clients do not come back", async () => {
    const keys = Array.from({ length: 300 }, makeKey);
    const [near, far] = gateways as [RunningKong, RunningKong];
    redis.freeze();
    // The gateway lets at most 100 requests of keys that it does not know yet wait.
    for (let first = 0; first < keys.length; first += 100)
      await Promise.all(keys.slice(first, first + 100).map((key) => ask(key, undefined, near)));
    redis.thaw();
    for (const key of keys) await expect.poll(() => redis.sumCounts(key)).toBe(1);
    for (const key of keys) await expectAllCounted(key, 1, () => ask(key, undefined, far));
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
      await expect.poll(() => countLines(away)).toEqual(before.map((count) => count + 1));
      await redis.run(allow);
      await expect.poll(() => redis.sumCounts(key)).toBe(600);
      expect(countPassed(outcomes)).toBe(600);
      await expectAllCounted(key, 600);
      expect(await countLines(away)).toEqual(before.map((count) => count + 1));
      await expect.poll(() => countLines(back)).toEqual(backBefore.map((count) => count + 1));
    },
  );

  it("let exactly 30 pass although Redis is emptied, because each keeps what it counted and what it was told", async () => {
    const [near, far] = gateways as [RunningKong, RunningKong];
    const askFrom = async (count: number, gateway: RunningKong) => {
      const outcomes: Outcome[] = [];
      while (outcomes.length < count) outcomes.push(await ask("DEMO_KEY", "127.0.3.1", gateway));
      return countPassed(outcomes);
    };
    expect(await askFrom(7, far)).toBe(7);
    expect(await askFrom(7, near)).toBe(7);
    await redis.run("FLUSHALL");
    // The other gateway gets no request with which it could tell its count again.
    expect(await askFrom(60, near)).toBe(16);
  });

  it("refuse none of a thousand keys that they do not know yet, behind one address, and count each once", async () => {
    const keys = Array.from({ length: 1000 }, makeKey);
    const left = [...keys];
    const outcomes: Outcome[] = [];
    const work = async () => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) outcomes.push(await ask(key));
    };
    await Promise.all(Array.from({ length: 50 }, work));
    expect(outcomes).toEqual(keys.map(() => ({ status: 200, remaining: limit - 1 })));
    for (const key of keys.slice(0, 50)) await expect.poll(() => redis.sumCounts(key)).toBe(1);
  });

  it("give Redis their counts back if it restarts empty", async () => {
    const key = makeKey();
    await askOften(400, 8, key);
    await redis.stop();
    await askOften(100, 8, key);
    await redis.restart();
    await expect.poll(() => redis.sumCounts(key)).toBe(500);
    await expectAllCounted(key, 500);
  });
});

it.skipIf(!isPossible)(
  "made-up keys leave nothing, so they do not push out the count of a client that has spent its 30",
  async () => {
    const small = await startSharedRedis(
      { demo: { by: "network", hour: 30, day: 50 }, default: { by: "key", hour: limit } },
      { KONG_NGINX_HTTP_LUA_SHARED_DICT: "single_audit_counts 1m" },
      ({ headers }, response) => {
        const isKnown = headers["x-api-key-sha256"] === hash("DEMO_KEY");
        if (!isKnown) response.writeHead(401, { "proxy-status": "PostgREST; error=API_KEY_INVALID" });
        response.end("[]");
      },
    );
    const gateway = await small.startGateway();
    // What Redis itself takes, and 2 MB for windows.
    await small.run("CONFIG SET maxmemory-policy volatile-lru");
    await small.run("CONFIG SET maxmemory 4mb");
    const address = "127.0.4.1";
    const spend = async () => {
      const outcomes = [];
      for (let sent = 0; sent < 40; sent++) outcomes.push(await ask("DEMO_KEY", address, gateway));
      return countPassed(outcomes);
    };
    expect(await spend()).toBe(30);
    let left = madeUpKeys;
    const statuses = new Set<number>();
    const work = async () => {
      while (left-- > 0) statuses.add((await ask(makeKey(), undefined, gateway)).status);
    };
    await Promise.all(Array.from({ length: 50 }, work));
    expect([...statuses]).toEqual([401]);
    // The windows of the client, and the key with which gateways try whether Redis answers.
    expect(await small.countKeys()).toBeLessThanOrEqual(3);
    expect(await spend()).toBe(0);
    const readRatio = async () => {
      const text = await (await fetch(gateway.metricsUrl)).text();
      return Number(/^kong_counters_memory_ratio ([\d.]+)$/m.exec(text)?.[1]);
    };
    await expect.poll(readRatio, { timeout: 20_000 }).toBeGreaterThan(0.2);
    expect(await readRatio()).toBeLessThan(1);
  },
);
