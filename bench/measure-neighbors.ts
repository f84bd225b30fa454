import { Agent } from "undici";
import type { BenchStack } from "./bench-stack.ts";
import { ask, quantile } from "./measure.ts";
import type { Gateways } from "./measure-lookups.ts";
import type { Table } from "./results.ts";

const lookups = { count: 1000, perSecond: 50, clients: 32 };
/** Finds nothing, in a column without an index. */
const slowSearch = "federal_awards?cluster_name=ilike.*qzq*&select=report_id";
const slowAtATime = 4;

/** Measures look-ups by many keys, alone and beside one key that sends slow searches without a pause. */
export async function measureNeighbors(
  stack: BenchStack,
  { gateways, turns }: { gateways: Gateways; turns: number },
): Promise<Table> {
  const url = gateways.main ?? stack.facts.base_url;
  const { rows: reports } = await stack.client.query<{ report_id: string }>(
    "select report_id from disclosed.general order by md5(report_id) limit 1000",
  );
  const [slowKey = "", ...keys] = stack.keys;
  const agents = keys
    .slice(0, lookups.clients)
    .map((_, number) => new Agent({ connections: 1, localAddress: `127.5.0.${number + 1}` }));
  const lookUp = async (number: number, due: number) => {
    await new Promise((resolve) => setTimeout(resolve, due - performance.now()));
    const client = number % agents.length;
    const path = `general?report_id=eq.${reports[number % reports.length]?.report_id}`;
    await ask(`${url}/${path}`, { "x-api-key": keys[client] ?? "" }, 200, agents[client]);
    return performance.now() - due;
  };
  const lookUpAll = () => {
    const start = performance.now();
    const due = (number: number) => start + (1000 * number) / lookups.perSecond;
    return Promise.all(Array.from({ length: lookups.count }, (_, number) => lookUp(number, due(number))));
  };
  const times: Record<"alone" | "beside slow searches", number[]> = { alone: [], "beside slow searches": [] };
  const slow: number[] = [];
  await lookUpAll();
  for (let turn = 0; turn < turns; turn += 1) {
    times.alone.push(...(await lookUpAll()));
    const searches = searchUntilStopped(`${url}/${slowSearch}`, slowKey);
    times["beside slow searches"].push(...(await lookUpAll()));
    slow.push(...(await searches.stop()));
  }
  for (const agent of agents) await agent.close();
  process.stderr.write("Measured: look-ups beside slow searches.\n");
  const describe = (values: number[]) => ({
    requests: values.length,
    "p50 ms": quantile(values, 0.5),
    "p99 ms": quantile(values, 0.99),
    "most ms": Math.max(...values),
  });
  return {
    title: "Look-ups beside slow searches",
    text: `${lookups.clients} keys look up ${lookups.perSecond} reports a second, alone and while another key sends ${slowAtATime} searches of a column without an index at a time.`,
    rows: {
      ...Object.fromEntries(Object.entries(times).map(([name, values]) => [name, describe(values)])),
      "the slow searches": describe(slow),
    },
  };
}

/** Sends a request again and again. `stop` returns how long each took that was answered. */
function searchUntilStopped(url: string, key: string) {
  const agent = new Agent({ connections: slowAtATime, localAddress: "127.5.1.1" });
  const times: number[] = [];
  let isOver = false;
  const work = async () => {
    while (!isOver) {
      const start = performance.now();
      // Those that wait too long get 429.
      const isAnswered = await ask(url, { "x-api-key": key }, 200, agent).catch(() => undefined);
      if (isAnswered) times.push(performance.now() - start);
    }
  };
  const working = Promise.all(Array.from({ length: slowAtATime }, work));
  return {
    stop: async () => {
      isOver = true;
      await working;
      await agent.close();
      return times;
    },
  };
}
