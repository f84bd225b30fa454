import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listDescendants } from "../support/read-cpu-time.ts";
import type { RunningKong } from "../support/start-kong.ts";
import { redisProgram } from "../support/start-redis.ts";
import { issueKey, kongProgram, redisLog, send, startSharedRedis, useGateways } from "./gateways.ts";

// Two gateways that share a Redis serve 100 requests a second for ENDURANCE_SECONDS, while Redis pauses again and again
// and restarts once, and while gateways stop and start. Needs real Kong (KONG_BIN), and redis-server or valkey-server on
// the PATH. CI runs it for ten minutes.

const seconds = Number(process.env.ENDURANCE_SECONDS ?? 0);
const isPossible = seconds > 0 && kongProgram !== undefined && redisProgram !== undefined;
useGateways();

/** Each round has its own keys, so that a round's counts do not depend on what happened before. */
const secondsPerRound = 20;
const rounds = Math.max(3, Math.floor(seconds / secondsPerRound));
const requestsPerSecond = 100;
const keysPerRound = 4;
/** Each key sends more requests than this in a round, although connections to a stopped gateway are refused. */
const limit = 300;
/** What gateways may let pass beyond the limit while they count alone. */
const most = 1.1 * limit;
const secondsToStop = 10;
/** For two minutes, a worker's memory grows until Lua's garbage collector holds it. Afterwards it must not. */
const warmUpRounds = 6;
const mostGrowthInMegabytes = 20;

const { away, back } = redisLog;

interface Gateway {
  kong: RunningKong;
  /** From its stop to its next start, it may refuse connections. */
  isStopped: boolean;
  /** For each round since its start, the memory of its largest worker in megabytes. */
  memory: number[];
}
let gateways: [Gateway, Gateway];
let redis: Awaited<ReturnType<typeof startSharedRedis>>;

beforeAll(async () => {
  if (!isPossible) return;
  redis = await startSharedRedis({ default: { by: "key", hour: limit } });
  const { startGateway } = redis;
  gateways = [
    { kong: await startGateway(), isStopped: false, memory: [] },
    { kong: await startGateway(), isStopped: false, memory: [] },
  ];
});

/** What went wrong, and what was measured. */
const faults: string[] = [];
const figures = {
  requests: 0,
  refusedConnections: 0,
  stops: 0,
  longestStop: 0,
  pauses: 0,
  outages: 0,
  largestWorker: 0,
};
const passedByKey: number[] = [];
const growths: number[] = [];
afterAll(() => {
  if (!isPossible) return;
  const passed = `${Math.min(...passedByKey)} to ${Math.max(...passedByKey)}`;
  console.log({ ...figures, passed, growths });
});

/** Returns the memory of the largest worker in megabytes, without what workers share. One may get most requests. */
const readMemory = ({ pid }: RunningKong) =>
  Math.max(
    ...listDescendants(pid)
      .map((each) => /^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1])
      .map((kilobytes) => Math.round(Number(kilobytes) / 1024)),
  );

/** Checks that each line about Redis that went away is followed by one that it is back. */
async function checkLog({ kong }: Gateway, isRunning: boolean): Promise<void> {
  const lines = (await kong.readLog()).split("\n").filter((line) => line !== "");
  const words = lines.map((line) => (line.includes(away) ? "away" : line.includes(back) ? "back" : line));
  if (!isRunning && words.at(-1) === "away") words.pop();
  figures.outages += words.length / 2;
  const expected = words.map((_, index) => (index % 2 === 0 ? "away" : "back"));
  if (words.join("\n") !== expected.join("\n") || words.length % 2 !== 0)
    faults.push(`Log lines about Redis do not pair up:\n${lines.join("\n")}`);
}

async function restart(gateway: Gateway): Promise<void> {
  const { port, quit } = gateway.kong;
  gateway.isStopped = true;
  checkMemory(gateway);
  const start = performance.now();
  await quit();
  const took = (performance.now() - start) / 1000;
  figures.stops += 1;
  figures.longestStop = Math.max(figures.longestStop, took);
  if (took > secondsToStop) faults.push(`A gateway took ${took} s to stop.`);
  await checkLog(gateway, false);
  gateway.kong = await redis.startGateway(port);
  gateway.memory = [];
  gateway.isStopped = false;
}

function checkMemory({ memory }: Gateway): void {
  const [first, ...later] = memory.slice(warmUpRounds - 1);
  figures.largestWorker = Math.max(figures.largestWorker, ...memory);
  if (first === undefined || later.length === 0) return;
  const growth = Math.max(...later) - first;
  growths.push(growth);
  if (growth > mostGrowthInMegabytes)
    faults.push(`A worker grew by ${growth} MB. Megabytes after each round: ${memory}`);
}

async function pauseRedis(): Promise<void> {
  figures.pauses += 1;
  redis.freeze();
  await sleep(300);
  redis.thaw();
}

async function restartRedis(): Promise<void> {
  await redis.stop();
  await sleep(3000);
  await redis.restart();
}

/** Sends a request, and returns whether it passed. */
async function ask(gateway: Gateway, key: string): Promise<boolean> {
  const wasStopped = gateway.isStopped;
  figures.requests += 1;
  try {
    const { status } = await send(gateway.kong.url, "/general", { headers: { "x-api-key": key } });
    if (status !== 200 && status !== 429) faults.push(`A request got ${status}.`);
    return status === 200;
  } catch (error) {
    // nginx closes its listening socket with connections in its queue, which nobody has accepted.
    if (wasStopped || gateway.isStopped) figures.refusedConnections += 1;
    else faults.push(`A request failed: ${error}`);
    return false;
  }
}

/** Sends requests at a steady rate until the round ends. Returns how many passed with each key. */
async function load(): Promise<number[]> {
  const keys = Array.from({ length: keysPerRound }, () => issueKey(randomBytes(16).toString("hex")));
  const outcomes: Promise<{ key: string; isPassed: boolean }>[] = [];
  const start = performance.now();
  for (let number = 0; number < secondsPerRound * requestsPerSecond; number += 1) {
    const wait = start + (number * 1000) / requestsPerSecond - performance.now();
    if (wait > 0) await sleep(wait);
    const gateway = gateways[number % 2] as Gateway;
    // Both gateways get requests with each key.
    const key = keys[Math.floor(number / 2) % keysPerRound] ?? "";
    outcomes.push(ask(gateway, key).then((isPassed) => ({ key, isPassed })));
  }
  const passed = (await Promise.all(outcomes)).filter(({ isPassed }) => isPassed);
  return keys.map((key) => passed.filter((outcome) => outcome.key === key).length);
}

/** What happens in a round besides pauses: a gateway or Redis restarts, or nothing. */
function findEvent(round: number): (() => Promise<void>) | undefined {
  const [first, second] = gateways;
  if (round === 3 * Math.floor(rounds / 6)) return restartRedis;
  if (round % 3 === 1) return () => restart(first);
  // In the second half, the second gateway goes on, which shows whether its memory grows.
  if (round % 3 === 2 && round < rounds / 2) return () => restart(second);
  return undefined;
}

async function disturb(event: (() => Promise<void>) | undefined): Promise<void> {
  for (const pause of [1, 2, 3, 4]) {
    await sleep(3500);
    // A gateway must be able to stop while Redis does not answer.
    await Promise.all([pauseRedis(), pause === 1 ? event?.() : undefined]);
  }
}

describe.skipIf(!isPossible)("two gateways that share a Redis, under load", () => {
  it("serve, count and stop even if Redis or gateways stop", {
    timeout: seconds * 2000 + 120_000,
  }, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const hour = new Date().getUTCHours();
      const [passed] = await Promise.all([load(), disturb(findEvent(round))]);
      // Windows are calendar hours, so a round counts twice if it began in another one.
      if (hour === new Date().getUTCHours()) {
        passedByKey.push(...passed);
        if (passed.some((count) => count < limit || count > most))
          faults.push(`In round ${round}, ${passed.join(", ")} requests of ${limit} passed.`);
      }
      for (const gateway of gateways) gateway.memory.push(readMemory(gateway.kong));
    }
    await sleep(1500);
    for (const gateway of gateways) {
      checkMemory(gateway);
      await checkLog(gateway, true);
    }
    if (figures.outages < 2) faults.push("The gateways did not log that Redis restarted.");
    expect(faults).toEqual([]);
  });
});
