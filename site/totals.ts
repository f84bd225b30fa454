import { stringify } from "csv-stringify/sync";
import { z } from "zod";

const sums = {
  audit_year: z.string().nullable(),
  submissions: z.number(),
  awards: z.number(),
  amount_expended: z.number(),
  findings: z.number(),
  material_weaknesses: z.number(),
};

/** What publication.describe_totals() says: rows as the API serves them, of the tables of these names. */
export const totals = z.object({
  newest_submission: z.iso.date().nullable(),
  totals_by_state: z.array(z.object({ ...sums, auditee_state: z.string().nullable() })),
  totals_by_agency: z.array(z.object({ ...sums, federal_agency_prefix: z.string().nullable() })),
});
export type Totals = z.infer<typeof totals>;
export type TotalsTable = "totals_by_state" | "totals_by_agency";
type Total = Totals["totals_by_state"][number] | Totals["totals_by_agency"][number];

/** What is added up, the first if nothing else is asked for. */
export const measures = {
  amount_expended: "Federal dollars expended",
  awards: "Awards",
  submissions: "Submissions",
  findings: "Findings",
  material_weaknesses: "Material weaknesses",
} as const;
export type Measure = keyof typeof measures;

/** Which totals a page shows. */
export interface Asked {
  measure: Measure;
  /** None: all of them. */
  year: string | undefined;
}

/** Reads the query string of a page, as `/?year=2023&measure=awards`. What is not known is as if it had not been said. */
export function readAsked(asked: Readonly<Record<string, unknown>>, years: string[]): Asked {
  const measure = Object.keys(measures).find((name) => name === asked.measure) as Measure | undefined;
  return { measure: measure ?? "amount_expended", year: years.find((year) => year === asked.year) };
}

/** The address of a page that shows these totals. */
export function linkToTotals({ measure, year }: Asked): string {
  const parameters = { ...(year && { year }), ...(measure !== "amount_expended" && { measure }) };
  return `/?${new URLSearchParams(parameters)}#totals`.replace("?#", "#");
}

/** Sums of a measure by what `nameOf` gives, the unstated ones under "". */
export function sumBy<Row extends Total>(
  rows: Row[],
  measure: Measure,
  nameOf: (row: Row) => string | null,
): Map<string, number> {
  const found = new Map<string, number>();
  for (const row of rows) {
    const name = nameOf(row) ?? "";
    found.set(name, (found.get(name) ?? 0) + row[measure]);
  }
  return found;
}

const whole = new Intl.NumberFormat("en-US");
const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });

/** A sum in full, dollars with their sign. */
export function formatSum(measure: Measure, sum: number): string {
  return measure === "amount_expended" ? `$${whole.format(sum)}`.replace("$-", "-$") : whole.format(sum);
}

/** A sum in as little room as there is in a plot. */
export const shortenSum = (sum: number): string => (sum < 10_000 ? whole.format(sum) : short.format(sum));

const written = new WeakMap<Total[], Buffer>();

/** A table of totals as CSV (RFC 4180), as PostgREST writes it: null is empty, the empty string "". Written once. */
export function writeTotals(told: Totals, table: TotalsTable): Buffer {
  const rows = told[table];
  const found = written.get(rows);
  if (found !== undefined) return found;
  const columns = [
    "audit_year",
    table === "totals_by_state" ? "auditee_state" : "federal_agency_prefix",
    ...["submissions", "awards", "amount_expended", "findings", "material_weaknesses"],
  ];
  const text = Buffer.from(stringify(rows, { columns, header: true, quoted_match: /^$|\r/ }));
  written.set(rows, text);
  return text;
}
