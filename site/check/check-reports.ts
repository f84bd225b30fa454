import { z } from "zod";
import { nameYear } from "../format.ts";
import { resultParts } from "../report.ts";
import type { LimitedQuery, Visitor } from "../search/limit-queries.ts";
import { type SimilarId, type UnknownIds, unknownIds } from "../similar-ids.ts";
import { type Successor, successors } from "../successors.ts";
import type { Entry, List, UnreadEntry } from "./read-list.ts";

/** What was found in a report, which may be one of several years. */
const result = z.object({
  report_id: z.string(),
  audit_year: z.string().nullable(),
  ...resultParts,
  findings: z.number(),
  /** If the list is checked for a program or an agency. */
  findings_on_aln: z.number().nullable(),
  /** If the list is checked for a program or an agency, only of the findings that concern it. */
  repeat_findings: z.number(),
});
export type CheckedResult = z.infer<typeof result>;

const decision = z.object({
  report_id: z.string(),
  audit_year: z.string().nullable(),
  fac_accepted_date: z.string().nullable(),
  /** Its number within its chain of resubmissions. */
  resubmission_version: z.number(),
  /** A date such as 2026-01-31. Null if the report has no accepted date. */
  due: z.string().nullable(),
  findings: z.number(),
});
export type CheckedDecision = z.infer<typeof decision>;

/** The newest report of an ID. */
const checked = z.object({
  id: z.string(),
  ...result.shape,
  /** Whether the ID is the auditee's own, not an additional one. */
  is_own: z.boolean(),
  /** Whether it is a report that was asked for. If an ID has none, another report has the auditee's name. */
  is_shown: z.boolean(),
  /** How many reports were found, and their audit years, the newest first. */
  reports: z.number(),
  filed: z.array(z.string().nullable()),
  auditee_name: z.string().nullable(),
  auditee_uei: z.string().nullable(),
  auditee_ein: z.string().nullable(),
  auditee_city: z.string().nullable(),
  auditee_state: z.string().nullable(),
  fac_accepted_date: z.string().nullable(),
  /** Its number within its chain of resubmissions. */
  resubmission_version: z.number(),
  /** If the list is checked for a program or an agency, these two are of the findings that concern it. */
  material_weaknesses: z.number(),
  questioned_costs: z.number(),
  /** Whether it has findings (that concern the program or agency). Without an accepted date, it has no due date. */
  needs_decision: z.boolean(),
  management_decision_due: z.string().nullable(),
  /** The reports with findings (that concern the program or agency), including older ones, and when their decisions are due. */
  decisions: z.array(decision),
});
/** A row of publication.check_reports(). */
const checkedId = z.object({
  newest: checked,
  /** The reports of the other years that are compared, the newest first. */
  older: z.array(result),
});
export type Checked = z.infer<typeof checked>;

/** An entry of a list, and the public reports that were found for it. */
export type CheckedEntry = (Entry | UnreadEntry) & {
  /** The newest report that was asked for. */
  report: Checked | undefined;
  /** This and those of the other years that are compared, the newest first. */
  reports: CheckedResult[];
  /** The earlier entries with the same reports, such as "ABCDEFGH1234", or with some of them: "ABCDEFGH1234 for 2023". Empty if none. */
  sameAs: string;
  /** If there is none, another report of the auditee. */
  other: Checked | undefined;
  /** The report that replaced the one whose ID this is. */
  successor: Successor | undefined;
  /** The UEIs or EINs that are similar, if no public report has what was typed and it is among the first 20 of these. */
  similar: SimilarId[];
};

/** Which reports are looked for. */
export interface WantedReports {
  /** The audit years, the newest first. Without one, the newest reports are looked for. */
  years: string[] | undefined;
  /** The audit years that are compared, the newest first. Undefined if none are. */
  compared: string[] | undefined;
  /** The number of a program, or the two digits of an agency. */
  aln: string | undefined;
}

/** Checks a list. Returns its lines. */
export type CheckList = (visitor: Visitor, list: List, wanted: WantedReports) => Promise<CheckedEntry[]>;

/** What is compared with the IDs of reports. */
export const writeId = (line: Entry | UnreadEntry): string =>
  line.kind ? line.id : line.typed.toUpperCase();

/** Names the earlier entries that have some of an entry's reports, and for which years if they do not have all. */
function describeSame(reports: CheckedResult[], entryOf: ReadonlyMap<string, string>): string {
  const years = new Map<string, string[]>();
  for (const { report_id: id, audit_year: year } of reports) {
    const entry = entryOf.get(id);
    if (entry !== undefined) years.set(entry, [...(years.get(entry) ?? []), nameYear(year)]);
  }
  return [...years]
    .map(([entry, same]) => (same.length === reports.length ? entry : `${entry} for ${same.join(", ")}`))
    .join("; ");
}

/** Creates a function that checks a list for a client. It throws what `query` throws. */
export function createCheck(query: LimitedQuery): CheckList {
  return async (visitor, { lines, entries }, { years, compared, aln }) => {
    const found = new Map<string, z.infer<typeof checkedId>>();
    const replaced = new Map<string, Successor>();
    let unknown: UnknownIds = new Map();
    if (lines.length > 0) {
      const [answer, ...rows] = await query<Record<"newest" | "older" | "replaced" | "unknown", unknown>>(
        visitor,
        `select null as newest, null as older, publication.list_successors($1) as replaced, publication.suggest_ids($5) as unknown
         union all
         select newest, older, null, null from publication.check_reports($1, $2, $3, $4)`,
        [entries.map(({ id }) => id), years, aln, compared, lines.map(writeId)],
      );
      for (const row of rows) {
        const each = checkedId.parse(row);
        found.set(each.newest.id, each);
      }
      for (const each of successors.parse(answer.replaced)) replaced.set(each.report_id, each);
      unknown = unknownIds.parse(answer.unknown);
    }
    const entryOf = new Map<string, string>();
    return lines.map((line) => {
      const { newest, older } = (line.kind && found.get(line.id)) || { newest: undefined, older: [] };
      const reports = newest?.is_shown ? [newest, ...older] : [];
      const sameAs = describeSame(reports, entryOf);
      for (const { report_id: id } of reports) if (!entryOf.has(id)) entryOf.set(id, line.typed);
      return {
        ...line,
        reports,
        sameAs,
        ...(newest?.is_shown ? { report: newest, other: undefined } : { report: undefined, other: newest }),
        successor: line.kind && replaced.get(line.id),
        similar: unknown.get(writeId(line)) ?? [],
      };
    });
  };
}
