import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import type { Figure } from "./results.ts";

/** One of the alternatives that are compared. Sends the request with this number. */
export type Arm = (number: number, connection: number) => Promise<unknown>;

interface MeasureOptions {
  turns: number;
  /** Requests that each arm sends in each turn, over `connections` connections at a time. */
  requests: number;
  connections?: number;
  /** How many requests the whole job takes, if it is estimated from some of them. */
  wholeJob?: number;
  /** Returns the CPU milliseconds that the programs have used so far. */
  readTimes: () => Record<string, number>;
}

const agent = new Agent({ connections: 64, keepAliveTimeout: 10_000 });

/**
 * Sends a request and reads the response to its end.
 *
 * @throws Error if the status is not the expected one
 */
export async function ask(
  url: string,
  headers: Record<string, string> = {},
  expectedStatus = 200,
  dispatcher = agent,
) {
  const { origin, pathname, search } = new URL(url);
  const response = await dispatcher.request({ origin, path: pathname + search, method: "GET", headers });
  const body = Buffer.from(await response.body.arrayBuffer());
  // A page of a counted result has the status 206.
  const status = response.statusCode === 206 ? 200 : response.statusCode;
  if (status !== expectedStatus)
    throw new Error(`${url}: ${status} instead of ${expectedStatus}: ${body.subarray(0, 300)}`);
  return { headers: response.headers, body };
}

/** Measures the arms in alternating turns, so that other load on the machine affects them all. Turn 0 is a warm-up. */
export async function measure(
  section: string,
  arms: Record<string, Arm>,
  { turns, requests, connections = 1, wholeJob, readTimes }: MeasureOptions,
): Promise<Figure[]> {
  const measured = new Map<string, { rates: number[]; latencies: number[]; cpu: Record<string, number>[] }>();
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [arm, send] of Object.entries(arms)) {
      const latencies: number[] = [];
      let next = 0;
      // Let the servers finish what the other arm left to do, such as logging.
      await sleep(20);
      const before = readTimes();
      const start = performance.now();
      const work = async (connection: number) => {
        while (next < requests) {
          const number = next;
          next += 1;
          const begin = performance.now();
          await send(number, connection);
          latencies.push(performance.now() - begin);
        }
      };
      await Promise.all(Array.from({ length: connections }, (_, connection) => work(connection)));
      const seconds = (performance.now() - start) / 1000;
      const after = readTimes();
      if (turn === 0) continue;
      const all = measured.get(arm) ?? { rates: [], latencies: [], cpu: [] };
      measured.set(arm, all);
      all.rates.push(requests / seconds);
      all.latencies.push(...latencies);
      const used = Object.entries(after).map(([name, time]) => [
        name,
        (time - (before[name] ?? 0)) / requests,
      ]);
      all.cpu.push(Object.fromEntries(used));
    }
  }
  process.stderr.write(`Measured: ${section}.\n`);
  return [...measured].flatMap(([arm, { rates, latencies, cpu }]) => {
    const rate = quantile(rates, 0.5);
    const figure = (quantity: string, value: number): Figure => ({ section, arm, quantity, value });
    return [
      ...(wholeJob === undefined ? [] : [figure("s in all", wholeJob / rate)]),
      { ...figure("requests/s", rate), least: Math.min(...rates), most: Math.max(...rates) },
      ...[figure("p50 ms", quantile(latencies, 0.5)), figure("p99 ms", quantile(latencies, 0.99))],
      ...Object.keys(cpu[0] ?? {}).map((name) => {
        const times = cpu.map((each) => each[name] ?? 0);
        return figure(`${name}, CPU ms`, quantile(times, 0.5));
      }),
    ];
  });
}

/** The CPU milliseconds of each program for one request: the median of the turns, after a first request. */
export async function measureCost(
  readTimes: () => Record<string, number>,
  turns: number,
  send: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const used: Record<string, number[]> = {};
  for (let turn = 0; turn <= turns; turn += 1) {
    const before = readTimes();
    await send();
    // The servers finish what the response did not wait for, such as logging.
    await sleep(5);
    if (turn === 0) continue;
    for (const [name, time] of Object.entries(readTimes()))
      used[name] = [...(used[name] ?? []), time - (before[name] ?? 0)];
  }
  return Object.fromEntries(Object.entries(used).map(([name, times]) => [name, quantile(times, 0.5)]));
}

export const sum = (costs: Record<string, number>) =>
  Object.values(costs).reduce((all, cost) => all + cost, 0);

/** The quantile of the values, such as 0.5 for the median. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
