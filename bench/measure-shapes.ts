import { readFile } from "node:fs/promises";
import { readCpuTime } from "../test/support/read-cpu-time.ts";
import type { BenchStack } from "./bench-stack.ts";
import { ask, measureCost, quantile, sum } from "./measure.ts";
import type { BarePostgrest } from "./measure-lookups.ts";
import type { Table } from "./results.ts";

/** A request of a real client (test/http/client-requests.test.ts). */
interface ClientRequest {
  id: string;
  method: string;
  path: string;
  query: string;
  headers: Record<string, string>;
  expect: { status: number | number[] };
}

const clientRequests = new URL("../test/client-requests.json", import.meta.url);
const count = { prefer: "count=exact" };
const slowestShown = 8;

/** Pages, counts and sorts that clients ask for, or that read most of a large table if no index fits. */
const others: [path: string, headers: Record<string, string>][] = [
  ["general?audit_year=eq.2022&limit=1000", {}],
  ["general?auditee_state=eq.CA&limit=1000", {}],
  ["general?auditee_name=ilike.*county*&limit=1000", {}],
  ["general?order=total_amount_expended.desc.nullslast&limit=1000", {}],
  ["general?order=fac_accepted_date.desc&limit=1000", {}],
  ["federal_awards?federal_agency_prefix=eq.93&limit=1000", {}],
  ["federal_awards?audit_year=eq.2022&federal_agency_prefix=eq.93&limit=1000", {}],
  ["federal_awards?fac_accepted_date=gte.2024-06-01&limit=1000", {}],
  ["federal_awards?order=amount_expended.desc&limit=100", {}],
  ["federal_awards?order=fac_accepted_date.desc&limit=100", {}],
  ["federal_awards?audit_year=eq.2022&federal_agency_prefix=eq.93&limit=1", count],
  ["general?audit_year=in.(2021,2022)&limit=1", count],
  [
    "general?audit_year=eq.2023&select=report_id,auditee_name,federal_awards!inner(amount_expended)&federal_awards.federal_agency_prefix=eq.93&federal_awards.federal_award_extension=eq.778&limit=100",
    {},
  ],
  [
    "federal_awards?select=report_id,amount_expended,general!inner(auditee_state)&general.auditee_state=eq.WY&limit=100",
    {},
  ],
];

/** A request, and the CPU milliseconds that it takes with and without the gateway. */
interface Shape {
  path: string;
  headers: Record<string, string>;
  cost: number;
  withoutGateway: number;
  /** The time of the common design, relative to this service without its gateway. */
  ratio?: number;
}

/** Measures requests as real clients send them. */
export async function measureShapes({ facts, keys }: BenchStack, turns: number): Promise<Shape[]> {
  const requests: ClientRequest[] = JSON.parse(await readFile(clientRequests, "utf8"));
  const fromClients = requests
    .filter(({ method, expect, query }) => {
      const isServed = method === "GET" && [expect.status].flat().includes(200);
      return isServed && !query.includes("api_key");
    })
    .map(({ path, query, headers }): [string, Record<string, string>] => {
      const sent = Object.entries(headers).filter(([name]) => /^(prefer|accept|range)$/i.test(name));
      return [`${path.slice(1)}?${query}`, Object.fromEntries(sent)];
    });
  const shapes: Shape[] = [];
  for (const [number, [path, headers]] of [...fromClients, ...others].entries()) {
    const sent = { ...headers, "x-api-key": keys[number % keys.length] ?? "" };
    const send = () => ask(`${facts.base_url}/${path}`, sent);
    const cost = await measureCost(() => readCpuTime(facts.pid), turns, send);
    shapes.push({ path, headers, cost: sum(cost), withoutGateway: sum(cost) - (cost.gateway ?? 0) });
  }
  process.stderr.write("Measured: requests of clients.\n");
  return shapes;
}

/** Compares the requests that the common design can answer. */
export async function compareShapes(
  { facts }: BenchStack,
  shapes: Shape[],
  bare: BarePostgrest,
  turns: number,
): Promise<Shape[]> {
  const compared: Shape[] = [];
  for (const shape of shapes) {
    const { path, headers, withoutGateway } = shape;
    const isCommon = /^(general|federal_awards)\?/.test(path) && !/findings|select=[^&]*\(/.test(path);
    const sent = { ...headers, ...bare.headers, "accept-profile": "common_api" };
    const readTimes = () => ({ all: readCpuTime(facts.pid).PostgreSQL + bare.readTime() });
    const cost = isCommon
      ? await measureCost(readTimes, turns, () => ask(`${bare.url}/${path}`, sent))
      : undefined;
    compared.push({ ...shape, ...(cost && { ratio: sum(cost) / withoutGateway }) });
  }
  process.stderr.write("Measured: the common design.\n");
  return compared;
}

export function describeShapes(shapes: Shape[]): Table {
  const costs = shapes.map(({ cost }) => cost);
  const ratios = shapes.flatMap(({ ratio }) => ratio ?? []);
  const shares = { least: 0, median: 0.5, p90: 0.9, most: 1 };
  const row = (cost: number, ratio: number | undefined) => ({
    "this service": cost,
    ...(ratio !== undefined && { "common design, relative": ratio }),
  });
  const slowest = shapes.toSorted((one, other) => other.cost - one.cost).slice(0, slowestShown);
  return {
    title: "Requests of clients",
    text: `CPU time in ms of ${shapes.length} requests: those of \`test/client-requests.json\`, and ${others.length} that read much of a large table if no index fits. The ratio is that of the common design, for the ${ratios.length} requests that it can answer; the rows after the first four are the slowest requests.`,
    rows: {
      ...Object.fromEntries(
        Object.entries(shares).map(([name, share]) => [
          name,
          row(quantile(costs, share), quantile(ratios, share)),
        ]),
      ),
      ...Object.fromEntries(slowest.map(({ path, cost, ratio }) => [`\`${path}\``, row(cost, ratio)])),
    },
  };
}

/** Columns that people search, each with words that up to a tenth of the texts have. */
const texts: [table: string, column: string, words: string[]][] = [
  ["findings_text", "finding_text", ["firefighter", "procurement"]],
  ["corrective_action_plans", "planned_action", ["procurement"]],
  ["notes_to_sefa", "content", ["basic"]],
  ["federal_awards", "federal_program_name", ["grandparent", "education"]],
  ["passthrough", "passthrough_name", ["education"]],
  ["general", "auditee_name", ["county"]],
];

/** Measures searches of texts for 100 rows: full-text searches with a count, and patterns with and without their index. */
export async function measureTexts(stack: BenchStack, turns: number): Promise<Table> {
  const { facts, keys, client } = stack;
  const readTimes = () => readCpuTime(facts.pid);
  const rows: Table["rows"] = {};
  for (const [number, [table, column, words]] of texts.entries()) {
    for (const word of words) {
      const key = { "x-api-key": keys[number] ?? "" };
      const measureMost = async (queries: string[], headers: Record<string, string>) => {
        const costs: number[] = [];
        for (const query of queries) {
          const url = `${facts.base_url}/${table}?${column}=${query}&limit=100`;
          costs.push(sum(await measureCost(readTimes, turns, () => ask(url, { ...key, ...headers }))));
        }
        return Math.max(...costs);
      };
      const counted = await ask(`${facts.base_url}/${table}?${column}=fts.${word}&limit=0`, {
        ...key,
        ...count,
      });
      const withoutIndex = async () => {
        await client.query("begin; set local enable_bitmapscan = off; set local enable_indexscan = off");
        await client.query(
          `select count(*) from (table disclosed.${table}) t where ${column} ilike '%${word}%'`,
        );
        await client.query("rollback");
      };
      const range = String(counted.headers["content-range"]);
      rows[`\`${column}\`, ${word}`] = {
        "rows found": Number(range.split("/")[1]),
        "full text, with a count": await measureMost([`fts.${word}`, `plfts.${word}`, `wfts.${word}`], count),
        "`like`, `ilike`, `match`, `imatch`": await measureMost(
          [`like.*${word}*`, `ilike.*${word}*`, `match.${word}`, `imatch.${word}`],
          {},
        ),
        "`ilike` without an index, with a count": sum(await measureCost(readTimes, 1, withoutIndex)),
      };
    }
  }
  process.stderr.write("Measured: texts.\n");
  return {
    title: "Texts",
    text: "CPU time in ms for 100 rows, with the slowest operator. The last column is a search without an index.",
    rows,
  };
}
