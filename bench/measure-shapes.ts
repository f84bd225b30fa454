import { readFile } from "node:fs/promises";
import { readSearch } from "../site/search/read-search.ts";
import { createSearch } from "../site/search/search-reports.ts";
import { readCpuTime } from "../test/support/read-cpu-time.ts";
import type { BenchStack } from "./bench-stack.ts";
import { type Arm, ask, measure } from "./measure.ts";
import { pageSearches } from "./page-searches.ts";
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

const section = "Requests of clients, and searches, the slowest first";
const clientRequests = new URL("../test/client-requests.json", import.meta.url);

const count = { prefer: "count=exact" };

/** Columns that people search, each with a rare word. */
const texts = {
  "general?auditee_name": "okanogan",
  "federal_awards?federal_program_name": "grandparent",
  "passthrough?passthrough_name": "okanogan",
  "findings_text?finding_text": "firefighter",
  "corrective_action_plans?planned_action": "firefighter",
  "notes_to_sefa?content": "mathematics",
};
const searches = Object.entries(texts).flatMap(([column, word]) => [
  ...["like", "ilike"].map((operator) => `${column}=${operator}.*${word}*`),
  ...["match", "imatch", "fts", "plfts", "phfts", "wfts"].map((operator) => `${column}=${operator}.${word}`),
]);
/** Counts and sorts that read most of a large table if no index fits. */
const others: [path: string, headers: Record<string, string>][] = [
  ["federal_awards?order=amount_expended.desc&limit=100", {}],
  ["federal_awards?order=amount_expended.desc&limit=20000", {}],
  ["federal_awards?order=fac_accepted_date.desc&limit=100", {}],
  ["federal_awards?audit_year=eq.2022&federal_agency_prefix=eq.93&limit=1", count],
  ["general?audit_year=in.(2021,2022)&limit=1", count],
];

/**
 * Measures requests as real clients send them, and searches, through the gateway. Names those that take more than a second of
 * CPU time, which depends less on other work on the machine than elapsed time.
 */
export async function measureShapes(
  { facts, pid, client }: Pick<BenchStack, "facts" | "pid" | "client">,
  turns: number,
): Promise<Figure[]> {
  const send =
    (path: string, headers: Record<string, string>): Arm =>
    () =>
      ask(`${facts.base_url}/${path}`, { ...headers, "x-api-key": facts.keys.individual });
  const requests: ClientRequest[] = JSON.parse(await readFile(clientRequests, "utf8"));
  const fromClients = requests
    .filter(({ method, expect, query }) => {
      const isServed = method === "GET" && [expect.status].flat().includes(200);
      return isServed && !query.includes("api_key");
    })
    .map(({ id, path, query, headers }): [string, Arm] => {
      const sent = Object.entries(headers).filter(([name]) => /^(prefer|accept|range)$/i.test(name));
      return [id, send(`${path.slice(1)}?${query}`, Object.fromEntries(sent))];
    });
  const arms: [string, Arm][] = [
    ...fromClients,
    ...searches.map((path): [string, Arm] => [`${path}, count`, send(`${path}&limit=1000`, count)]),
    ...others.map(([path, headers]): [string, Arm] => [path, send(path, headers)]),
  ];
  // Without the app, which limits searches.
  const search = createSearch(
    async (_, statement, values) => (await client.query(statement, values)).rows[0],
  );
  const visitor = { address: "127.0.0.1", left: new AbortController().signal };
  for (const text of pageSearches)
    arms.push([`search of the pages: ${text}`, () => search(visitor, text, readSearch(text), 1)]);
  const measured: { work: number; figures: Figure[] }[] = [];
  for (const [arm, request] of arms) {
    const options = { turns, requests: 1, readTimes: () => readCpuTime(pid) };
    const figures = await measure(arm, { [arm]: request }, options).catch((error: Error) => {
      process.stderr.write(`Left out, because it failed: ${arm}: ${error.message}\n`);
      return [];
    });
    const kept = figures.filter(({ quantity }) => quantity !== "requests/s");
    const times = kept.filter(({ quantity }) => quantity.endsWith("CPU ms"));
    const work = times.reduce((sum, { value }) => sum + value, 0);
    if (work > 1000) process.stderr.write(`Slow: ${Math.round(work)} ms of CPU time, ${arm}\n`);
    measured.push({ work, figures: kept.map((figure) => ({ ...figure, section })) });
  }
  return measured.sort((one, other) => other.work - one.work).flatMap(({ figures }) => figures);
}
