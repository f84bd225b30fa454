import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";

/** One of the alternatives that are compared. Sends the request with this number. */
export type Arm = (number: number, connection: number) => Promise<unknown>;

interface MeasureOptions {
  turns: number;
  /** Requests that each arm sends in each turn, over `connections` connections at a time. */
  requests: number;
  connections: number;
  /** Returns the CPU milliseconds that the programs have used so far. */
  readTimes: () => Record<string, number>;
}

const agent = new Agent({ connections: 64, keepAliveTimeout: 10_000 });

/**
 * Sends a request, or a form, and reads the response to its end.
 *
 * @throws Error if the status is not the expected one
 */
export async function ask(
  url: string,
  headers: Record<string, string> = {},
  expectedStatus = 200,
  dispatcher = agent,
  form?: string,
) {
  const { origin, pathname, search } = new URL(url);
  const response = await dispatcher.request({
    origin,
    path: pathname + search,
    method: form === undefined ? "GET" : "POST",
    headers:
      form === undefined ? headers : { ...headers, "content-type": "application/x-www-form-urlencoded" },
    body: form ?? null,
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  // A page of a counted result has the status 206.
  const status = response.statusCode === 206 ? 200 : response.statusCode;
  if (status !== expectedStatus)
    throw new Error(`${url}: ${status} instead of ${expectedStatus}: ${body.subarray(0, 300)}`);
  return { headers: response.headers, body };
}

/**
 * Measures the CPU milliseconds per request, by program. The arms take turns, so that other load on the machine affects them all.
 */
export async function measure(
  arms: Record<string, Arm>,
  { turns, requests, connections, readTimes }: MeasureOptions,
): Promise<Record<string, Record<string, number>>> {
  const used: Record<string, Record<string, number>[]> = {};
  // The first turn is a warm-up.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [arm, send] of Object.entries(arms)) {
      let next = 0;
      const work = async (connection: number) => {
        while (next < requests) {
          const number = next;
          next += 1;
          await send(number, connection);
        }
      };
      const cost = await readCost(readTimes, () =>
        Promise.all(Array.from({ length: connections }, (_, connection) => work(connection))),
      );
      if (turn > 0) used[arm] = [...(used[arm] ?? []), mapValues(cost, (time) => time / requests)];
    }
  }
  return mapValues(used, takeMedians);
}

/** The CPU milliseconds of each program for one request: the median of the turns, after a first request. */
export async function measureCost(
  readTimes: () => Record<string, number>,
  turns: number,
  send: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const used: Record<string, number>[] = [];
  for (let turn = 0; turn <= turns; turn += 1) used.push(await readCost(readTimes, send));
  return takeMedians(used.slice(1));
}

async function readCost(readTimes: () => Record<string, number>, work: () => Promise<unknown>) {
  const before = readTimes();
  await work();
  // The servers finish what the response did not wait for, such as logging.
  await sleep(5);
  return mapValues(readTimes(), (time, name) => time - (before[name] ?? 0));
}

const takeMedians = (costs: Record<string, number>[]) =>
  mapValues(costs[0] ?? {}, (_, name) =>
    quantile(
      costs.map((cost) => cost[name] ?? 0),
      0.5,
    ),
  );

export const mapValues = <From, To>(record: Record<string, From>, map: (value: From, name: string) => To) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));

/** The programs that take at least 2.5% of the time. What is less is mostly noise. */
export function listMain(costs: Record<string, number>): Record<string, number> {
  const least = 0.025 * sum(costs);
  return Object.fromEntries(Object.entries(costs).filter(([, cost]) => cost > 0 && cost >= least));
}

export const sum = (costs: Record<string, number>) =>
  Object.values(costs).reduce((all, cost) => all + cost, 0);

/** The quantile of the values, such as 0.5 for the median. */
export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
