import { ask } from "./ask.ts";
import { type Comparison, compare } from "./measure.ts";
import { commonDesign, largePageRows, mildCommonDesign } from "./measure-pages.ts";
import type { BenchStack } from "./start-bench-stack.ts";

export interface WalkFigures {
  /** Pages of the whole table, and how many of them, evenly spaced, were measured. */
  pages: number;
  measuredPages: number;
  whole: Comparison;
  ends: Comparison;
}

const mostMeasuredPages = 8;

/**
 * Compares ways to read the whole of federal_awards. Of a long walk evenly spaced pages are measured, the first and the
 * last full one among them, and multiplied: the cost of a page grows evenly with its offset.
 */
export async function measureWalks(stack: BenchStack, turns: number): Promise<WalkFigures> {
  const { client, pid } = stack;
  const { postgrest_url: postgrest, app_url: app, keys } = stack.facts;
  const direct = stack.asGateway(keys.individual);
  const common = { ...direct, ...commonDesign };
  const mild = { ...direct, ...mildCommonDesign };
  const { rows } = await client.query("select count(*)::integer as rows from disclosed.federal_awards");
  const pages = Math.max(1, Math.floor(rows[0].rows / largePageRows));
  const measuredPages = Math.min(pages, mostMeasuredPages);
  const offsets = Array.from(
    { length: measuredPages },
    (_, page) => Math.round((page * (pages - 1)) / Math.max(1, measuredPages - 1)) * largePageRows,
  );
  const awards = `${postgrest}/federal_awards?limit=${largePageRows}`;
  const walk = (headers: Record<string, string>, queries: string[]) => async () => {
    for (const query of queries) await ask(`${awards}${query}`, headers);
  };
  const byOffset = offsets.map((offset) => `&offset=${offset}`);
  const byKey = await findKeys(stack, offsets);
  const factor = pages / measuredPages;
  const whole = await compare(
    `the whole of federal_awards, ${pages} pages of ${largePageRows} rows`,
    {
      "ours by offset": walk(direct, byOffset),
      "common design by offset": walk(common, byOffset),
      "… asking only about what is not public": walk(mild, byOffset),
      "ours by key": walk(direct, byKey),
      "common design by key": walk(
        common,
        offsets.map((offset) => `&order=id&id=gt.${offset}`),
      ),
      "bulk file": () => ask(`${app}/public-data/federal_awards.csv.gz`),
    },
    {
      turns,
      pid,
      factors: {
        "ours by offset": factor,
        "common design by offset": factor,
        "… asking only about what is not public": factor,
        "ours by key": factor,
        "common design by key": factor,
      },
    },
  );
  const last = `&offset=${offsets.at(-1)}`;
  const ends = await compare(
    `federal_awards, the first page and the last, at offset ${offsets.at(-1)}`,
    {
      "ours first": walk(direct, ["&offset=0"]),
      "ours last": walk(direct, [last]),
      "common design first": walk(common, ["&offset=0"]),
      "common design last": walk(common, [last]),
    },
    { turns, pid },
  );
  return { pages, measuredPages, whole, ends };
}

/** Where a walk by key would go on at these offsets: report_id, and award_reference within a report. */
async function findKeys({ client }: BenchStack, offsets: number[]): Promise<string[]> {
  const { rows } = await client.query(
    `select report_id, award_reference
    from (
      select report_id, award_reference, row_number() over (order by report_id, award_reference) as place
      from disclosed.federal_awards
    ) as ranked
    where place = any ($1)
    order by place`,
    [offsets],
  );
  const order = "&order=report_id,award_reference";
  const later = rows.map(
    ({ report_id: report, award_reference: award }) =>
      `${order}&report_id=gte.${report}&or=(report_id.gt.${report},award_reference.gt.${award})`,
  );
  return [order, ...later];
}
