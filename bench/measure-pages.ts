import { Agent } from "undici";
import { readCpuTime } from "../test/support/read-cpu-time.ts";
import type { BenchStack } from "./bench-stack.ts";
import { ask, measureCost, quantile, sum } from "./measure.ts";
import { pageSearches } from "./page-searches.ts";
import type { Table } from "./results.ts";

const slowestShown = 3;
const longestAddress = 6000;

/** Measures the pages of the app. */
export async function measurePages({ facts, client }: BenchStack, turns: number): Promise<Table> {
  const { rows } = await client.query<{ report_id: string; auditee_uei: string }>(
    "select report_id, auditee_uei from disclosed.general where auditee_uei <> 'GSA_MIGRATION' order by md5(report_id) limit 1000",
  );
  const reports = rows.slice(0, 20);
  const ueis = rows.map(({ auditee_uei }) => auditee_uei);
  const list = ueis.slice(0, 60).join();
  const search = (words: string) => `/search?q=${encodeURIComponent(words)}`;
  const kinds: Record<string, string[]> = {
    "searches of `page-searches.ts`": pageSearches.map(search),
    "record of a report": reports.map(({ report_id }) => `/record/${report_id}`),
    "reports of an auditee": reports.map(({ auditee_uei }) => `/auditee/${auditee_uei}`),
    "findings by words": [
      "procurement",
      "payroll",
      "late reporting",
      "firefighter",
      "procurement or suspension or debarment",
      '"internal control" "segregation of duties"',
    ].map((words) => `/findings?words=${encodeURIComponent(words)}`),
    "findings by filters": [
      "state=TX&year=2022",
      "program=93.778",
      "requirement=L",
      "requirement=C,L&state=CA,TX",
      "repeat=Y",
      "program=84&direct=Y&questioned_costs=Y",
      `u=${list}`,
    ].map((filter) => `/findings?${filter}`),
    "check of 60 UEIs": ["", "&year=2022", "&year=all", "&aln=84"].map((more) => `/check?u=${list}${more}`),
    // Their address is too long, so they are posted.
    "check of 1,000 UEIs": ["", "&year=all", "&year=all&aln=84"].map(
      (more) => `/check?u=${[...new Set(ueis)].join()}${more}`,
    ),
    "program, agency, state": ["/program/93.778", "/program/84.010", "/agency/93", "/state/TX", "/state/CA"],
    "home, totals, changes": ["/", "/totals", "/changes"],
  };
  let requests = 0;
  /** An address may open 60 pages a minute. */
  const send = (address: string) => {
    const [page = "", form] = address.length > longestAddress ? address.split("?") : [address];
    requests += 1;
    const agent = new Agent({
      connections: 1,
      localAddress: `127.4.${(requests >> 7) % 250}.${(requests % 128) + 1}`,
    });
    return ask(facts.app_url + page, {}, 200, agent, form).finally(() => agent.close());
  };
  const results: Table["rows"] = {};
  for (const [kind, pages] of Object.entries(kinds)) {
    const costs: { page: string; all: number; PostgreSQL: number }[] = [];
    for (const page of pages) {
      const cost = await measureCost(
        () => readCpuTime(facts.pid),
        turns,
        () => send(page),
      );
      costs.push({ page: page.slice(0, 80), all: sum(cost), PostgreSQL: cost.PostgreSQL ?? 0 });
    }
    const all = costs.map(({ all }) => all);
    results[kind] = {
      pages: costs.length,
      median: quantile(all, 0.5),
      p90: quantile(all, 0.9),
      most: Math.max(...all),
      "most in PostgreSQL": Math.max(...costs.map(({ PostgreSQL }) => PostgreSQL)),
    };
    const slowest = costs.toSorted((one, other) => other.all - one.all).slice(0, slowestShown);
    process.stderr.write(
      `Slowest ${kind}: ${slowest.map(({ page, all }) => `${page} ${Math.round(all)} ms`).join(", ")}\n`,
    );
  }
  return {
    title: "Pages",
    text: "CPU time in ms, of PostgreSQL and the app. Each search should take at most 300 ms.",
    rows: results,
  };
}
