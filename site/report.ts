import { z } from "zod";
import type { FindingCriteria } from "./findings/read-criteria.ts";
import type { LimitedQuery, Visitor } from "./search/limit-queries.ts";
import { type Successor, successors } from "./successors.ts";

const row = z.record(z.string(), z.unknown());
const text = z.string().nullable();
/** How many findings a report has, each counted once. */
export const findingCounts = z.object({
  findings: z.number(),
  material_weaknesses: z.number(),
  significant_deficiencies: z.number(),
  repeat_findings: z.number(),
  questioned_costs: z.number(),
});
/** The most findings on a page. */
export const findingsOnPage = 20;
const finding = z.looseObject({
  reference_number: text,
  alns: z.array(z.string()),
  type_requirement: text,
  prior_finding_ref_numbers: text,
  is_direct: text,
  awards: z.number(),
  amount_expended: z.number().nullable(),
  /** Whether the page has room for the texts. */
  has_room: z.boolean(),
  has_chart: z.boolean(),
  finding_text: text,
  planned_action: text,
  /** The largest programs that the finding concerns. */
  programs: z.array(
    z.object({
      aln: z.string(),
      federal_program_name: text,
      awards: z.number(),
      amount_expended: z.number().nullable(),
    }),
  ),
});
/** The public findings that findings repeat, and how many findings are before each in its report. */
export const earlierFindings = z.array(
  z.object({ reference_number: z.string(), report_id: z.string(), place: z.number() }),
);
export type EarlierFindings = z.infer<typeof earlierFindings>;
/** The public findings of later years, and the number of the finding that each repeats. */
const laterFindings = z.array(
  earlierFindings.element.extend({ reference_number: text, repeats: z.string(), audit_year: z.string() }),
);
export type LaterFindings = z.infer<typeof laterFindings>;
/** The result of publication.describe_results(), in a row for a report. */
export const resultParts = {
  gaap_results: text,
  sp_framework_opinions: text,
  /** What the report says of the auditee as a whole: the columns of general that are "Yes" and describe a problem. */
  disclosed: z.array(z.string()),
  /** For how many programs the auditor's opinion on compliance is modified, by its letter. */
  modified_programs: z.record(z.string(), z.number()),
};
/** The result of publication.describe_report(). */
const report = z.object({
  general: row,
  counts: findingCounts,
  result: z.object(resultParts),
  /** The public report that it replaces. */
  replaced: z.object({ report_id: z.string() }).nullable(),
  /** A date. Null if there are no findings, or no date on which the report was accepted. */
  management_decision_due: text,
  findings: z.array(finding),
  earlier: earlierFindings,
  later: laterFindings,
  /** The first rows of the other tables. */
  parts: z.record(z.string(), z.object({ total: z.number(), rows: z.array(row) })),
  /** How many findings concern each of the awards that are shown, by their references. */
  award_findings: z.record(z.string(), z.number()),
  other_reports: z.array(z.object({ report_id: z.string(), audit_year: text })),
});
export type Report = z.infer<typeof report>;
export type Finding = Report["findings"][number];

/** What the page of a report shows. */
export interface ShownReport {
  /** The site's public URL, for paper. */
  appUrl: string;
  reportId: string;
  /** Of the findings, from 1. */
  page: number;
  /** The search that led to the report. The programs that it asks for are marked. */
  asked: FindingCriteria;
  report: Report;
}

export interface ReportReader {
  /** Reads a page of a public report. If there is no such report, reads which report replaced it. */
  read: (
    visitor: Visitor,
    reportId: string,
    page: number,
  ) => Promise<{ report: Report | undefined; successor: Successor | undefined }>;
  /** Lists a public report's rows of a table. Undefined if there is no such report or table. */
  list: (visitor: Visitor, reportId: string, table: string) => Promise<Record<string, unknown>[] | undefined>;
}

/** Creates functions that read public reports for a client. They throw what `query` throws. */
export function createReportReader(query: LimitedQuery): ReportReader {
  return {
    read: async (visitor, reportId, page) => {
      const [answer] = await query<{ found: unknown; replaced: unknown }>(
        visitor,
        "select publication.describe_report($1, $2) as found, publication.list_successors(array[$1]) as replaced",
        [reportId, page],
      );
      return {
        report: report.nullable().parse(answer.found) ?? undefined,
        successor: successors.parse(answer.replaced)[0],
      };
    },
    list: async (visitor, reportId, table) => {
      const [{ found }] = await query<{ found: Record<string, unknown>[] | null }>(
        visitor,
        "select publication.list_report_rows($1, $2) as found",
        [reportId, table],
      );
      return found ?? undefined;
    },
  };
}
