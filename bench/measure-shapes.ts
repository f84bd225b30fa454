import { readFile } from "node:fs/promises";
import { readCpuTime } from "../test/support/read-cpu-time.ts";
import type { BenchStack } from "./bench-stack.ts";
import { ask, measureCost, quantile, sum } from "./measure.ts";
import type { BarePostgrest } from "./measure-lookups.ts";
import type { Figure } from "./results.ts";

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

/** Measures requests as real clients send them, and compares those that the common design can answer. */
export async function measureShapes(
  stack: BenchStack,
  bare: BarePostgrest,
  turns: number,
): Promise<Figure[]> {
  const { facts, keys } = stack;
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
  const ours = () => readCpuTime(facts.pid);
  const theirs = () => ({ all: readCpuTime(facts.pid).PostgreSQL + bare.readTime() });
  const costs: { path: string; cost: number; ratio: number | undefined }[] = [];
  for (const [number, [path, headers]] of [...fromClients, ...others].entries()) {
    const key = { "x-api-key": keys[number % keys.length] ?? "" };
    const measureOne = (url: string, more: Record<string, string>, readTimes: () => Record<string, number>) =>
      measureCost(readTimes, turns, () => ask(url, { ...headers, ...more })).catch((error: Error) => {
        process.stderr.write(`Left out, because it failed: ${error.message}\n`);
        return undefined;
      });
    const own = await measureOne(`${facts.base_url}/${path}`, key, ours);
    if (own === undefined) continue;
    const isCommon = /^(general|federal_awards)\?/.test(path) && !/findings(_|\()/.test(path);
    const common = isCommon
      ? await measureOne(`${bare.url}/${path}`, { ...bare.headers, "accept-profile": "common_api" }, theirs)
      : undefined;
    // The gateway does not take part in the comparison.
    const compared = sum(own) - (own.gateway ?? 0);
    costs.push({ path, cost: sum(own), ratio: common && sum(common) / compared });
  }
  process.stderr.write("Measured: requests of clients.\n");
  return describeShapes(costs);
}

function describeShapes(costs: { path: string; cost: number; ratio: number | undefined }[]): Figure[] {
  const section = "Requests of clients";
  const figure = (arm: string, quantity: string, value: number): Figure => ({
    section,
    arm,
    quantity,
    value,
  });
  const all = costs.map(({ cost }) => cost);
  const ratios = costs.flatMap(({ ratio }) => ratio ?? []);
  const shares: [string, number][] = [
    ["median", 0.5],
    ["p90", 0.9],
    ["most", 1],
  ];
  const cpu = "CPU ms";
  const relative = "common design, relative";
  return [
    figure("least", cpu, Math.min(...all)),
    ...(ratios.length > 0 ? [figure("least", relative, Math.min(...ratios))] : []),
    ...shares.flatMap(([name, share]) => [
      figure(`${name} of ${all.length}`, cpu, quantile(all, share)),
      ...(ratios.length > 0 ? [figure(`${name} of ${all.length}`, relative, quantile(ratios, share))] : []),
    ]),
    ...costs
      .toSorted((one, other) => other.cost - one.cost)
      .slice(0, slowestShown)
      .flatMap(({ path, cost, ratio }) => [
        figure(`\`${path}\``, cpu, cost),
        ...(ratio === undefined ? [] : [figure(`\`${path}\``, relative, ratio)]),
      ]),
  ];
}

/** Columns that people search, each with a rare word and one that many texts have. */
const texts: [table: string, column: string, rare: string, common: string][] = [
  ["findings_text", "finding_text", "firefighter", "procurement"],
  ["corrective_action_plans", "planned_action", "firefighter", "procurement"],
  ["notes_to_sefa", "content", "mathematics", "lease"],
  ["federal_awards", "federal_program_name", "grandparent", "medicaid"],
  ["passthrough", "passthrough_name", "okanogan", "education"],
  ["general", "auditee_name", "okanogan", "county"],
];

/** Measures searches of texts for 100 rows: full-text searches with a count, and patterns with and without their index. */
export async function measureTexts(stack: BenchStack, turns: number): Promise<Figure[]> {
  const { facts, keys, client } = stack;
  const readTimes = () => readCpuTime(facts.pid);
  const figures: Figure[] = [];
  for (const [number, [table, column, rare, common]] of texts.entries()) {
    for (const word of [rare, common]) {
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
      const arm = `\`${column}\`, ${word}`;
      const figure = (quantity: string, value: number): Figure => ({
        section: "Texts",
        arm,
        quantity,
        value,
      });
      const range = String(counted.headers["content-range"]);
      figures.push(
        figure("rows found", Number(range.split("/")[1])),
        figure(
          "full text with a count",
          await measureMost([`fts.${word}`, `plfts.${word}`, `wfts.${word}`], count),
        ),
        figure(
          "`like`, `ilike`, `match`, `imatch`",
          await measureMost([`like.*${word}*`, `ilike.*${word}*`, `match.${word}`, `imatch.${word}`], {}),
        ),
        figure("`ilike` without an index, with a count", sum(await measureCost(readTimes, 1, withoutIndex))),
      );
    }
  }
  process.stderr.write("Measured: texts.\n");
  return figures;
}
