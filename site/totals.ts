import { z } from "zod";
import { type Measure, measures } from "./link-total.ts";

const sums = {
  audit_year: z.string().nullable(),
  submissions: z.number(),
  awards: z.number(),
  amount_expended: z.number(),
  findings: z.number(),
  material_weaknesses: z.number(),
};

/** What totals leave out, for readers. */
export const notCounted = "Suppressed reports and reports that a public report replaced are not counted.";

/** The result of publication.describe_totals(): the rows of the API's tables with these names. */
export const totals = z.object({
  newest_submission: z.iso.date().nullable(),
  totals_by_state: z.array(z.object({ ...sums, auditee_state: z.string().nullable() })),
  totals_by_agency: z.array(z.object({ ...sums, federal_agency_prefix: z.string().nullable() })),
});
export type Totals = z.infer<typeof totals>;
type Total = z.infer<z.ZodObject<typeof sums>>;

export type Sums = Record<Measure, number>;

/** The audit years of the data set, the newest first. */
export const listAuditYears = (totals: Totals | null | undefined): string[] =>
  [...new Set(totals?.totals_by_state.map((total) => total.audit_year ?? ""))]
    .filter(Boolean)
    .sort()
    .reverse();

/** Adds up rows by name. Rows without a name are under "". */
export function sumBy<Row extends Total>(
  rows: readonly Row[],
  nameOf: (row: Row) => string | null,
): Map<string, Sums> {
  const found = new Map<string, Sums>();
  for (const row of rows) {
    const name = nameOf(row) ?? "";
    const sums: Partial<Sums> = found.get(name) ?? {};
    for (const key of Object.keys(measures) as Measure[]) sums[key] = (sums[key] ?? 0) + row[key];
    found.set(name, sums as Sums);
  }
  return found;
}
