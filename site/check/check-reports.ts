import { z } from "zod";
import { resultParts } from "../report.ts";
import type { LimitedQuery, Visitor } from "../search/limit-queries.ts";
import type { Entry, List, UnreadEntry } from "./read-list.ts";

/** The result of publication.check_reports(). */
const checked = z.array(
  z.object({
    id: z.string(),
    /** Whether the ID is the auditee's own, not an additional one. */
    is_own: z.boolean(),
    /** How many reports were found. */
    reports: z.number(),
    report_id: z.string(),
    auditee_name: z.string().nullable(),
    auditee_city: z.string().nullable(),
    auditee_state: z.string().nullable(),
    audit_year: z.string().nullable(),
    fac_accepted_date: z.string().nullable(),
    ...resultParts,
    findings: z.number(),
    /** If the list is checked for a program or an agency, these three are of the findings that concern it. */
    material_weaknesses: z.number(),
    repeat_findings: z.number(),
    questioned_costs: z.number(),
    findings_on_aln: z.number().nullable(),
    management_decision_due: z.string().nullable(),
    /** The reports with findings (that concern the program or agency), including older ones, and when their decisions are due. */
    decisions: z.array(
      z.object({
        report_id: z.string(),
        audit_year: z.string().nullable(),
        due: z.string(),
        findings: z.number(),
      }),
    ),
  }),
);
export type Checked = z.infer<typeof checked>[number];

/** An entry of a list, and the newest public report that was found for it. */
export type CheckedEntry = (Entry | UnreadEntry) & { report: Checked | undefined };

/** What a list is checked for. */
export interface Wanted {
  /** The audit year. Without one, the newest report is looked for. */
  year: string | undefined;
  /** The number of a program, or the two digits of an agency. */
  aln: string | undefined;
}

/** Checks a list. Returns its lines. */
export type CheckList = (visitor: Visitor, list: List, wanted: Wanted) => Promise<CheckedEntry[]>;

/** Creates a function that checks a list for a client. It throws what `query` throws. */
export function createCheck(query: LimitedQuery): CheckList {
  return async (visitor, { lines, entries }, { year, aln }) => {
    if (entries.length === 0) return lines.map((line) => ({ ...line, report: undefined }));
    const { found } = await query<{ found: unknown }>(
      visitor,
      "select publication.check_reports($1, $2, $3) as found",
      [entries.map(({ id }) => id), year, aln],
    );
    const reports = new Map(checked.parse(found).map((report) => [report.id, report]));
    return lines.map((line) => ({ ...line, report: line.kind && reports.get(line.id) }));
  };
}
