import type { BenchStack } from "./bench-stack.ts";
import { ask, measure } from "./measure.ts";
import type { Figure } from "./results.ts";

const largePageRows = 20_000;
const mostMeasuredPages = 8;
/** Selects the schema of common-design.sql. */
const commonDesign = { "accept-profile": "api_v9_9_9" };
/** Pages that are measured with 1,000 rows. They use the columns that clients filter and order by most often. */
const filteredPages = [
  "general?audit_year=eq.2022",
  "general?auditee_state=eq.CA",
  "general?auditee_name=ilike.*county*",
  "general?order=total_amount_expended.desc.nullslast",
  "general?order=fac_accepted_date.desc",
  "federal_awards?federal_agency_prefix=eq.93",
  "federal_awards?audit_year=eq.2022&federal_agency_prefix=eq.93",
  "federal_awards?fac_accepted_date=gte.2024-06-01",
];

/** Compares filtered pages and a walk through a whole table with the common design. Also measures a bulk file. */
export async function measureReads(stack: BenchStack, turns: number): Promise<Figure[]> {
  const { postgrest_url, app_url } = stack.facts;
  const direct = (headers: Record<string, string>, query: string) =>
    ask(`${postgrest_url}/${query}`, { ...stack.gatewayHeaders, ...headers });
  const figures: Figure[] = [];
  for (const page of filteredPages) {
    const query = `${page}&limit=1000`;
    const arms = {
      [page]: () => direct({}, query),
      [`${page}, common design`]: () => direct(commonDesign, query),
    };
    figures.push(...(await measure("Pages of 1,000 rows", arms, { turns, requests: 5 })));
  }
  const { rows } = await stack.client.query(
    "select count(*)::integer as count from disclosed.federal_awards",
  );
  const pages = Math.max(1, Math.floor(rows[0].count / largePageRows));
  const requests = Math.min(pages, mostMeasuredPages);
  // The cost of a page grows linearly with its offset, so evenly spaced pages stand for all pages.
  const offsets = Array.from(
    { length: requests },
    (_, page) => Math.round((page * (pages - 1)) / Math.max(1, requests - 1)) * largePageRows,
  );
  const section = "The whole of federal_awards";
  const awards = `federal_awards?limit=${largePageRows}`;
  const arms = {
    "this service, by offset": (page: number) => direct({}, `${awards}&offset=${offsets[page]}`),
    "common design, by offset": (page: number) => direct(commonDesign, `${awards}&offset=${offsets[page]}`),
  };
  figures.push(...(await measure(section, arms, { turns, requests, wholeJob: pages })));
  const file = { "bulk file": () => ask(`${app_url}/public-data/federal_awards.csv.gz`) };
  figures.push(...(await measure(section, file, { turns, requests: 1, wholeJob: 1 })));
  return figures;
}
