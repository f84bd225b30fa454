import { DatabaseUnavailable } from "../../shared/web/database.ts";
import { writeEasternDate } from "../format.ts";
import type { ServiceFacts } from "../service-facts.ts";
import { listAuditYears } from "../totals.ts";
import type { CheckedEntry, WantedReports } from "./check-reports.ts";
import { hasChanged } from "./compare-years.ts";
import {
  chooseDueFilter,
  type Decision,
  type DueFilter,
  decisionSorts,
  filterDecisions,
  listDecisions,
  wasAccepted,
} from "./decisions.ts";
import { type List, readList } from "./read-list.ts";
import { type Asked, readWanted, type Wanted, writeWanted } from "./read-wanted.ts";

/** A list, and what was found for it. */
export interface CheckResult {
  /** What was typed. */
  typed: Asked;
  list: List;
  wanted: Wanted;
  checked: CheckedEntry[];
  /** Those that are beside each other if years are compared. */
  shownEntries: CheckedEntry[];
  /** The path that shows the same result. Undefined if the list is too long for an address. */
  path: string | undefined;
  /** The day as of which management decisions are judged. */
  asOf: string;
  /** All management decisions on reports accepted by that day, and those that the page shows, in their order. */
  decisions: Decision[];
  shownDecisions: Decision[];
  /** How many are on reports that were accepted later. */
  laterDecisions: number;
  due: DueFilter;
}

/**
 * Checks the list of a form.
 *
 * @throws what `check` throws, or DatabaseUnavailable if the audit years to compare are not known yet
 */
export async function runCheck(
  typed: Asked,
  facts: ServiceFacts | undefined,
  check: (list: List, wanted: WantedReports) => Promise<CheckedEntry[]>,
): Promise<CheckResult> {
  const [list, wanted] = [readList(typed.list), readWanted(typed, listAuditYears(facts?.totals))];
  if (facts === undefined && wanted.compared?.length === 0)
    throw new DatabaseUnavailable("The database has not yet answered, so the audit years are unknown.");
  const checked = await check(list, wanted);
  const asOf = wanted.asOf ?? writeEasternDate(new Date());
  const listed = listDecisions(checked, asOf);
  const decisions = listed.filter((decision) => wasAccepted(decision, asOf));
  const due = wanted.due ?? chooseDueFilter(decisions, asOf);
  return {
    ...{ typed, list, wanted, checked, asOf, due, decisions },
    shownEntries: checked.filter((entry) => !wanted.change || hasChanged(entry, wanted, wanted.change)),
    path: writePath({ ...typed, ...writeWanted(wanted) }),
    shownDecisions: filterDecisions(decisions, due, asOf).sort(decisionSorts[wanted.sort ?? "due"]),
    laterDecisions: listed.length - decisions.length,
  };
}

/** The address of a check, with only what is not empty. Undefined if the list is too long for it, or has nothing to read. */
export function writePath({
  list,
  year,
  aln,
  as_of,
  due,
  sort,
  change,
}: Omit<Asked, "rows">): string | undefined {
  const { address } = readList(list);
  const others = new URLSearchParams(
    Object.entries({ year, aln, as_of, due, sort, change }).filter(([, value]) => value !== ""),
  )
    .toString()
    .replaceAll("%2C", ",");
  return !address ? undefined : `/check?u=${address}${others && `&${others}`}`;
}
