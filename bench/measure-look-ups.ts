import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { ask } from "./ask.ts";
import { at, type Summary, summarize } from "./measure.ts";
import { type CpuTime, readCpuTime } from "./process-time.ts";
import { startBarePostgrest } from "./start-bare-postgrest.ts";
import type { BenchStack } from "./start-bench-stack.ts";

export interface LookUpFigures {
  connections: number;
  requests: number;
  /** By arm: look-ups a second of each turn, milliseconds of a single one, and microseconds of CPU time that one takes. */
  arms: Record<string, { perSecond: Summary; p50: number; p99: number; cpu: CpuTime }>;
}

/** By what asks, the sending of one look-up. */
export type Arms = Record<string, (id: string, connection: number) => Promise<unknown> | undefined>;

const connections = 8;
const requests = 3000;

/**
 * Looks reports up by their ID over several connections at once: past all that this service adds to PostgREST, with what
 * the database adds, through the gateway, and in SQL.
 */
export async function measureLookUps(stack: BenchStack, turns: number): Promise<LookUpFigures> {
  const { facts, client, asGateway } = stack;
  const bare = await startBarePostgrest(stack);
  const { rows } = await client.query(
    "select report_id from disclosed.general order by md5(report_id) limit 1000",
  );
  const ids: string[] = rows.map((row) => row.report_id);
  const withKey = { "x-api-key": facts.keys.individual };
  const direct = asGateway(facts.keys.individual);
  const clients = await Promise.all(
    Array.from({ length: connections }, async () => {
      const each = new Client({ connectionString: facts.database_url });
      await each.connect();
      return each;
    }),
  );
  const sql = {
    name: "look-up",
    text: "select coalesce(json_agg(found), '[]')::text as body from (select * from api_v1_1_0.general where report_id = $1) as found",
  };
  const lookUp = (origin: string, id: string, headers: Record<string, string>, status = 200) =>
    ask(`${origin}/general?report_id=eq.${id}`, headers, { status });
  // The request that the gateway makes of it, so that the database does the same.
  const lookUpDirect = (id: string, headers: Record<string, string> = {}, status = 200) =>
    lookUp(
      facts.postgrest_url,
      id,
      { ...direct, "x-filter-report-id": `eq.${id}`, "x-request-id": randomUUID(), ...headers },
      status,
    );
  const known = await lookUp(facts.base_url, ids[0] ?? "", withKey);
  const again = { "if-none-match": String(known.headers.etag) };
  const arms: Arms = {
    "bare PostgREST, with a token": (id) => lookUp(bare.url, id, bare.token),
    "bare PostgREST": (id) => lookUp(bare.url, id, {}),
    "PostgREST with request.authorize()": (id) => lookUpDirect(id),
    "… 304": (id) => lookUpDirect(id, again, 304),
    gateway: (id) => lookUp(facts.base_url, id, withKey),
    "gateway, 304": (id) => lookUp(facts.base_url, id, { ...withKey, ...again }, 304),
    "pg prepared": (id, connection) => clients[connection]?.query({ ...sql, values: [id] }),
  };
  const { rates, latencies, costs } = await alternate(arms, ids, turns, () => ({
    // Bare PostgREST is a child of this process, which is no part of the service.
    ...readCpuTime(process.pid),
    node: readCpuTime(stack.pid).node,
  }));
  await Promise.all(clients.map((each) => each.end()));
  await bare.stop();
  const outcome: LookUpFigures["arms"] = {};
  for (const [arm, all] of rates) {
    const sorted = (latencies.get(arm) ?? []).toSorted((a, b) => a - b);
    const cost = (program: keyof CpuTime) =>
      summarize((costs.get(arm) ?? []).map((cpu) => cpu[program])).median;
    outcome[arm] = {
      perSecond: summarize(all),
      p50: at(sorted, 0.5),
      p99: at(sorted, 0.99),
      cpu: { postgres: cost("postgres"), postgrest: cost("postgrest"), node: cost("node") },
    };
  }
  process.stderr.write(`look-ups: ${JSON.stringify(outcome)}\n`);
  return { connections, requests, arms: outcome };
}

/**
 * Runs each arm in turn, the first turn uncounted.
 *
 * @param readCpu returns the CPU milliseconds that an arm's processes have used so far
 * @returns by arm: look-ups per second in each turn, milliseconds of each look-up, and microseconds of CPU per look-up
 */
export async function alternate<Name extends string>(
  arms: Arms,
  ids: string[],
  turns: number,
  readCpu: (arm: string) => Record<Name, number>,
) {
  const rates = new Map<string, number[]>();
  const latencies = new Map<string, number[]>();
  const costs = new Map<string, Record<Name, number>[]>();
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const [arm, send] of Object.entries(arms)) {
      let next = 0;
      const times: number[] = [];
      const before = readCpu(arm);
      const start = performance.now();
      await Promise.all(
        Array.from({ length: connections }, async (_, connection) => {
          while (next < requests) {
            const id = ids[next % ids.length] ?? "";
            next += 1;
            const begin = performance.now();
            await send(id, connection);
            times.push(performance.now() - begin);
          }
        }),
      );
      const seconds = (performance.now() - start) / 1000;
      const after = readCpu(arm);
      if (turn === 0) continue;
      const cpu = { ...after };
      for (const name in cpu) cpu[name] = ((after[name] - before[name]) * 1000) / requests;
      costs.set(arm, [...(costs.get(arm) ?? []), cpu]);
      rates.set(arm, [...(rates.get(arm) ?? []), requests / seconds]);
      latencies.set(arm, [...(latencies.get(arm) ?? []), ...times]);
    }
  }
  return { rates, latencies, costs };
}
