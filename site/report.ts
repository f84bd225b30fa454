import { z } from "zod";
import type { LimitedQuery, Visitor } from "./search/limit-queries.ts";

const row = z.record(z.string(), z.unknown());
/** The result of publication.describe_report(): a report's rows by table, and how many there are of each. */
const report = z.record(z.string(), z.object({ total: z.number(), rows: z.array(row) }));
export type Report = z.infer<typeof report>;

/** Reads a public report. Undefined if there is no such report. */
export type ReadReport = (visitor: Visitor, reportId: string) => Promise<Report | undefined>;

/** Creates a function that reads a public report for a client. It throws what `query` throws. */
export function createReportReader(query: LimitedQuery): ReadReport {
  return async (visitor, reportId) => {
    const { found } = await query<{ found: unknown }>(
      visitor,
      "select publication.describe_report($1) as found",
      [reportId],
    );
    return report.nullable().parse(found) ?? undefined;
  };
}
