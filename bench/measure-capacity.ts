import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import { readCpuTime } from "../test/support/read-cpu-time.ts";
import type { BenchStack } from "./bench-stack.ts";
import { createApiClient, createReader, type LoadOptions, type Sample, sendLoad } from "./load.ts";
import { ask, mapValues, measureCost, sum } from "./measure.ts";
import type { Gateways } from "./measure-lookups.ts";
import type { Table } from "./results.ts";

/** How often each kind of request is measured alone. */
const repetitions = 60;
const seconds = 60;
const rates = { pages: 10, api: 30 };
/** More than two cores answer. */
const tooManyOfApi = 1000;

type Costs = Record<string, number>;

/**
 * Measures what each kind of request costs, alone, and predicts from it what the load of many clients costs. Then sends this load,
 * at a rate that the machine bears easily, and at one that it does not.
 */
export async function measureCapacity(stack: BenchStack, gateways: Gateways): Promise<Table[]> {
  const { facts, client, keys } = stack;
  const { rows: reports } = await client.query(
    "select report_id, auditee_uei from disclosed.general where auditee_uei <> 'GSA_MIGRATION' order by md5(report_id) limit 5000",
  );
  const baseUrl = gateways.main ?? facts.base_url;
  const readTimes = () => {
    const times = readCpuTime(facts.pid);
    return { ...times, gateway: times.gateway + gateways.readTime(), Redis: gateways.readRedis() };
  };
  const load = { baseUrl, appUrl: facts.app_url, keys, reports };
  const costs = await measureKinds(load, readTimes);
  process.stderr.write("Measured: each kind of request.\n");
  const run = (apiRate: number) => runLoad(load, { pages: rates.pages, api: apiRate }, readTimes);
  const [steady, most] = [await run(rates.api), await run(tooManyOfApi)];
  process.stderr.write("Measured: loads.\n");
  const predict = (samples: Sample[]) => {
    const total = samples.map(({ kind }) => costs[kind] ?? {});
    const programs = Object.keys(readTimes());
    return Object.fromEntries(
      programs.map((name) => [
        name,
        total.reduce((all, cost) => all + (cost[name] ?? 0), 0) / 1000 / seconds,
      ]),
    );
  };
  const describe = (cores: Costs) => ({ ...cores, all: sum(cores) });
  const rows = (name: string, { samples, used, clients }: LoadRun) => ({
    [`${name}, predicted`]: describe(predict(samples)),
    [`${name}, measured`]: { ...describe(used), clients, "requests/s": samples.length / seconds },
  });
  return [
    {
      title: "Requests by kind",
      text: "CPU time in ms per request, one at a time, through Kong with Redis if they are installed.",
      rows: mapValues(costs, (cost) => ({ ...cost, all: sum(cost) })),
    },
    {
      title: "A simulated load",
      text: `CPU time in cores, predicted for the answered requests from their kinds, and measured: ${rates.pages} pages and ${rates.api} requests of the API a second for ${seconds} s, then as many of the API as are answered.`,
      rows: { ...rows("steady", steady), ...rows("as many as possible", most) },
    },
  ];
}

type Load = Pick<LoadOptions, "baseUrl" | "appUrl" | "keys" | "reports">;

async function measureKinds(load: Load, readTimes: () => Costs): Promise<Record<string, Costs>> {
  const costs: Record<string, Costs> = {};
  const sent = new Map<string, (() => Promise<unknown>)[]>();
  const add = (kind: string, choose: () => { url: string; headers?: Record<string, string> }) => {
    const list = sent.get(kind) ?? [];
    const address = `127.6.${sent.size}.${list.length + 1}`;
    const send = async () => {
      const { url, headers } = choose();
      const status = headers !== undefined && "if-none-match" in headers ? 304 : 200;
      const agent = new Agent({ connections: 1, localAddress: address });
      await ask(url, headers, status, agent).finally(() => agent.close());
    };
    sent.set(kind, [...list, send]);
  };
  for (const choose of [createApiClient(load, load.keys[0] ?? ""), createReader(load)])
    for (let tries = 0; tries < 40 * repetitions; tries += 1) {
      const { kind, keep, ...request } = choose();
      const count = sent.get(kind)?.length ?? 0;
      if (count === repetitions) continue;
      // A client must have read a report before it can ask whether it changed.
      if (keep !== undefined && count === 0) keep((await ask(request.url, request.headers)).headers);
      add(kind, () => request);
    }
  let pages = 0;
  for (let count = 0; count < repetitions; count += 1)
    add("API: page of 1,000, not kept", () => {
      pages += 1;
      const url = `${load.baseUrl}/federal_awards?limit=1000&offset=${100 * pages}`;
      return { url, headers: { "x-api-key": load.keys[0] ?? "" } };
    });
  for (const [kind, sends] of [...sent].sort()) {
    const all = await measureCost(readTimes, 1, async () => {
      for (const send of sends) await send();
    });
    costs[kind] = mapValues(all, (time) => time / sends.length);
  }
  return costs;
}

interface LoadRun {
  samples: Sample[];
  /** CPU time of each program, in cores. */
  used: Costs;
  /** CPU time of the clients, in cores. */
  clients: number;
}

async function runLoad(
  load: Load,
  rates: { pages: number; api: number },
  readTimes: () => Costs,
): Promise<LoadRun> {
  const samples: Sample[] = [];
  const stop = new AbortController();
  const running = sendLoad({ ...load, rates, signal: stop.signal, record: (sample) => samples.push(sample) });
  const [before, own] = [readTimes(), process.cpuUsage()];
  await sleep(1000 * seconds);
  const { user, system } = process.cpuUsage(own);
  const used = mapValues(readTimes(), (time, name) => (time - (before[name] ?? 0)) / 1000 / seconds);
  const answered = samples.filter(({ outcome }) => /^[23]\d\d$/.test(outcome));
  process.stderr.write(`${samples.length - answered.length} of ${samples.length} requests failed.\n`);
  stop.abort();
  await running;
  return { samples: answered, used, clients: (user + system) / 1e6 / seconds };
}
