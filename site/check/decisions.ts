import { writeUtcDate } from "../format.ts";
import type { CheckedEntry } from "./check-reports.ts";

/** A report with findings, and when the management decision on them is due. */
export interface Decision {
  report_id: string;
  auditee_name: string | null;
  auditee_state: string | null;
  audit_year: string | null;
  findings: number;
  /** A date such as 2026-01-31. */
  due: string;
  state: DueState;
}

export type DueState = "past due" | "due within a month" | "due later";

/** Which decisions are listed, by the value of the parameter `due`. */
export const dueFilters = {
  recent: "Due in the last 12 months, or later",
  month: "Due within a month",
  past: "Past due",
  all: "All",
} as const;
export type DueFilter = keyof typeof dueFilters;

/** By what decisions are sorted, by the value of the parameter `sort`. */
export const decisionSorts = {
  due: (one: Decision, other: Decision) => one.due.localeCompare(other.due),
  auditee: (one: Decision, other: Decision) =>
    (one.auditee_name ?? "").localeCompare(other.auditee_name ?? ""),
  findings: (one: Decision, other: Decision) => other.findings - one.findings,
} as const;
export type DecisionSort = keyof typeof decisionSorts;

const isFilter = (typed: string): typed is DueFilter => Object.hasOwn(dueFilters, typed);
const isSort = (typed: string): typed is DecisionSort => Object.hasOwn(decisionSorts, typed);
export const readDecisionSort = (typed: string): DecisionSort => (isSort(typed) ? typed : "due");

/** Compares a date with today. */
export function judgeDue(due: string, today: Date): DueState {
  if (due < writeUtcDate(today)) return "past due";
  return due <= addMonths(today, 1) ? "due within a month" : "due later";
}

/** Lists the decisions on all reports of a checked list, including older ones, each once, by date. */
export function listDecisions(checked: CheckedEntry[], today: Date): Decision[] {
  const listed = checked.flatMap(({ report }) =>
    report === undefined
      ? []
      : report.decisions.map((decision) => ({
          ...decision,
          auditee_name: report.auditee_name,
          auditee_state: report.auditee_state,
          state: judgeDue(decision.due, today),
        })),
  );
  return [...new Map(listed.map((decision) => [decision.report_id, decision])).values()].sort(
    decisionSorts.due,
  );
}

/** Reads which decisions to list. Without a choice, these are the recent ones, or all if none is recent. */
export function readDueFilter(typed: string, decisions: Decision[], today: Date): DueFilter {
  if (isFilter(typed)) return typed;
  return filterDecisions(decisions, "recent", today).length > 0 ? "recent" : "all";
}

/** Chooses decisions by when they are due. */
export function filterDecisions(decisions: Decision[], filter: DueFilter, today: Date): Decision[] {
  const lastYear = addMonths(today, -12);
  const isListed: Record<DueFilter, (decision: Decision) => boolean> = {
    recent: ({ due }) => due >= lastYear,
    month: ({ state }) => state === "due within a month",
    past: ({ state }) => state === "past due",
    all: () => true,
  };
  return decisions.filter(isListed[filter]);
}

function addMonths(date: Date, months: number): string {
  const moved = new Date(date);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  return writeUtcDate(moved);
}
