import { ask } from "./ask.ts";
import { type Arm, type Comparison, compare } from "./measure.ts";
import type { BenchStack } from "./start-bench-stack.ts";

export interface PageFigures {
  filtered: Comparison[];
  large: Comparison;
  /** Bytes of the answer's body, as sent, by arm of `large`. */
  bytes: Record<string, number>;
  conditional: Comparison;
}

export const largePageRows = 20_000;
/** Choose the schemas of common-design.sql. */
export const commonDesign = { "accept-profile": "api_v9_9_9" };
export const mildCommonDesign = { "accept-profile": "api_v9_9_8" };

const repeats = 5;
/** Pages of 1,000 rows as clients ask for them. The first four name the columns that they most often filter by. */
export const filteredPages = {
  "audit_year=eq.2022": "general?audit_year=eq.2022",
  "auditee_state=eq.CA": "general?auditee_state=eq.CA",
  "auditee_name=ilike.*county*": "general?auditee_name=ilike.*county*",
  "federal_agency_prefix=eq.93": "federal_awards?federal_agency_prefix=eq.93",
  "auditee_name=ilike.*bayl*": "general?auditee_name=ilike.*bayl*",
  "audit_year=eq.2022 of awards": "federal_awards?audit_year=eq.2022",
  "audit_year=eq.2022 and federal_agency_prefix=eq.93 of awards":
    "federal_awards?audit_year=eq.2022&federal_agency_prefix=eq.93",
  "the largest of general": "general?order=total_amount_expended.desc.nullslast",
  "the newest of general": "general?order=fac_accepted_date.desc",
  "fac_accepted_date=gte of awards": "federal_awards?fac_accepted_date=gte.2024-06-01",
};

/** Compares filtered pages with the common design, and large pages and repeated ones with each other. */
export async function measurePages(stack: BenchStack, turns: number): Promise<PageFigures> {
  const { base_url: gateway, postgrest_url: postgrest, keys } = stack.facts;
  const { pid } = stack;
  const direct = stack.asGateway(keys.individual);
  const filtered: Comparison[] = [];
  for (const [name, query] of Object.entries(filteredPages)) {
    const url = `${postgrest}/${query}&limit=1000`;
    const askOften = (headers: Record<string, string>) => async () => {
      for (let time = 0; time < repeats; time += 1) await ask(url, headers);
    };
    const arms = { ours: askOften(direct), "common design": askOften({ ...direct, ...commonDesign }) };
    const factors = { ours: 1 / repeats, "common design": 1 / repeats };
    filtered.push(await compare(name, arms, { turns, pid, factors }));
  }

  const url = `${gateway}/general?limit=${largePageRows}`;
  const withKey = { "x-api-key": keys.individual };
  const bytes: Record<string, number> = {};
  const page =
    (name: string, headers: Record<string, string>): Arm =>
    async () => {
      bytes[name] = (await ask(url, { ...withKey, ...headers })).body.length;
    };
  const csv = { accept: "text/csv" };
  const gzip = { "accept-encoding": "gzip" };
  const large = await compare(
    `page of ${largePageRows} rows of general, through the gateway`,
    {
      JSON: page("JSON", {}),
      "JSON gzip": page("JSON gzip", gzip),
      CSV: page("CSV", csv),
      "CSV gzip": page("CSV gzip", { ...csv, ...gzip }),
    },
    { turns, pid },
  );
  const { headers } = await ask(url, withKey);
  const conditional = await compare(
    "the same page again",
    {
      "200": page("200", {}),
      "304": () => ask(url, { ...withKey, "if-none-match": String(headers.etag) }, { status: 304 }),
    },
    { turns, pid },
  );
  return { filtered, large, bytes, conditional };
}
