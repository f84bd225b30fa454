import { readFile } from "node:fs/promises";
import type { BenchStack } from "./bench-stack.ts";
import { type Arm, ask, measure } from "./measure.ts";
import type { Figure } from "./results.ts";

/** A request of a real client (test/http/client-requests.test.ts). */
interface ClientRequest {
  id: string;
  method: string;
  path: string;
  query: string;
  expect: { status: number | number[] };
}

const clientRequests = new URL("../test/client-requests.json", import.meta.url);

const count = { prefer: "count=exact" };
/** Searches and sorts that read most of a large table if no index fits. The words are rare. */
const searches: [path: string, headers: Record<string, string>][] = [
  ["general?auditee_name=ilike.*okanogan*", count],
  ["general?auditee_name=wfts.okanogan", count],
  ["federal_awards?federal_program_name=ilike.*grandparent*&limit=1000", count],
  ["passthrough?passthrough_name=ilike.*okanogan*&limit=1000", count],
  ["findings_text?finding_text=ilike.*firefight*&limit=1000", count],
  ["findings_text?finding_text=plfts.firefighter&limit=1000", count],
  ["corrective_action_plans?planned_action=imatch.firefight&limit=1000", count],
  ["corrective_action_plans?planned_action=fts.firefighter&limit=1000", count],
  ["corrective_action_plans?planned_action=phfts.victim%20services&limit=1000", count],
  ["notes_to_sefa?content=ilike.*mathemat*&limit=1000", count],
  ["notes_to_sefa?content=wfts.mathematics&limit=1000", count],
  ["federal_awards?order=amount_expended.desc&limit=100", {}],
  ["federal_awards?order=amount_expended.desc&limit=20000", {}],
  ["federal_awards?order=fac_accepted_date.desc&limit=100", {}],
  ["federal_awards?audit_year=eq.2022&federal_agency_prefix=eq.93&limit=1", count],
  ["general?audit_year=in.(2021,2022)&limit=1", count],
];

/** Measures requests as real clients send them, and searches, through the gateway, and names the slowest. */
export async function measureShapes({ facts }: BenchStack, turns: number): Promise<Figure[]> {
  const send =
    (path: string, headers: Record<string, string>): Arm =>
    () =>
      ask(`${facts.base_url}/${path}`, { ...headers, "x-api-key": facts.keys.individual });
  const requests: ClientRequest[] = JSON.parse(await readFile(clientRequests, "utf8"));
  const fromClients = requests
    .filter(
      ({ method, expect, query }) => method === "GET" && expect.status === 200 && !query.includes("api_key"),
    )
    .map(({ id, path, query }): [string, Arm] => [id, send(`${path.slice(1)}?${query}`, {})]);
  const arms = Object.fromEntries([
    ...fromClients,
    ...searches.map(([path, headers]): [string, Arm] => [path, send(path, headers)]),
  ]);
  const figures = await measure("Requests of clients, and searches", arms, { turns, requests: 1 });
  const latencies = figures
    .filter(({ quantity }) => quantity === "p50 ms")
    .sort((one, other) => other.value - one.value);
  for (const { arm, value } of latencies.slice(0, 5))
    process.stderr.write(`Slowest: ${Math.round(value)} ms, ${arm}\n`);
  const place = new Map(latencies.map(({ arm }, index) => [arm, index]));
  return figures
    .filter(({ quantity }) => quantity !== "requests/s")
    .sort((one, other) => (place.get(one.arm) ?? 0) - (place.get(other.arm) ?? 0));
}
