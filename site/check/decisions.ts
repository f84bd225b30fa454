import { addMonths } from "../format.ts";
import { type DueState, judgeDue } from "../verdict.ts";
import type { CheckedDecision, CheckedEntry } from "./check-reports.ts";

/** A report with findings, and when the management decision on them is due. */
export interface Decision extends CheckedDecision {
  /** What was typed into the list. */
  entry: string;
  auditee_name: string | null;
  auditee_uei: string | null;
  auditee_ein: string | null;
  auditee_city: string | null;
  auditee_state: string | null;
  state: DueState;
}

/** Which decisions are listed, by the value of the parameter `due`. */
export const dueFilters = {
  recent: "Not yet due, or due in the last 12 months",
  month: "Due within a month",
  quarter: "Due within three months",
  past: "Past due",
  all: "All",
} as const;
export type DueFilter = keyof typeof dueFilters;

/** By what decisions are sorted, by the value of the parameter `sort`. By date, those without one come last. */
export const decisionSorts = {
  due: (one: Decision, other: Decision) => (one.due ?? "9999").localeCompare(other.due ?? "9999"),
  auditee: (one: Decision, other: Decision) =>
    (one.auditee_name ?? "").localeCompare(other.auditee_name ?? ""),
  findings: (one: Decision, other: Decision) => other.findings - one.findings,
} as const;
export type DecisionSort = keyof typeof decisionSorts;

/** Lists the decisions on all reports of a checked list, including older ones, each once, by date, with their state as of a day. */
export function listDecisions(checked: CheckedEntry[], asOf: string): Decision[] {
  const listed = new Map<string, Decision>();
  for (const { typed, report, other } of checked) {
    const auditee = report ?? other;
    for (const decision of auditee?.decisions ?? [])
      if (auditee !== undefined && !listed.has(decision.report_id))
        listed.set(decision.report_id, {
          ...decision,
          entry: typed,
          auditee_name: auditee.auditee_name,
          auditee_uei: auditee.auditee_uei,
          auditee_ein: auditee.auditee_ein,
          auditee_city: auditee.auditee_city,
          auditee_state: auditee.auditee_state,
          state: judgeDue(decision.due, asOf),
        });
  }
  return [...listed.values()].sort(decisionSorts.due);
}

/** Without a choice, the recent decisions are listed, or all if the due date of none is recent. */
export const chooseDueFilter = (decisions: Decision[], asOf: string): DueFilter =>
  filterDecisions(decisions, "recent", asOf).some(({ due }) => due !== null) ? "recent" : "all";

/** Whether a report was accepted by a day. A report without an accepted date counts as accepted. */
export const wasAccepted = ({ fac_accepted_date: accepted }: Decision, asOf: string): boolean =>
  accepted === null || accepted <= asOf;

/** Chooses decisions by when they are due, as of a day. */
export function filterDecisions(decisions: Decision[], filter: DueFilter, asOf: string): Decision[] {
  const lastYear = addMonths(asOf, -12);
  const isListed: Record<DueFilter, (decision: Decision) => boolean> = {
    recent: ({ due }) => due === null || due >= lastYear,
    month: ({ state }) => state === "due within a month",
    quarter: ({ due }) => due !== null && due >= asOf && due <= addMonths(asOf, 3),
    past: ({ state }) => state === "past due",
    all: () => true,
  };
  return decisions.filter(isListed[filter]);
}
