import { isDate } from "../findings/read-criteria.ts";
import { pickProgram, readAlnOrAgency, readYear } from "../read-filters.ts";
import { cut } from "../search/words.ts";
import type { WantedReports } from "./check-reports.ts";
import { type Change, changes } from "./compare-years.ts";
import { type DecisionSort, type DueFilter, decisionSorts, dueFilters } from "./decisions.ts";

/** The most audit years that are compared. */
export const mostYears = 5;

/** What was typed into the fields of the form. */
export interface Asked {
  list: string;
  year: string;
  aln: string;
  /** The day as of which management decisions are judged. */
  as_of: string;
  /** Which management decisions are listed, and by what they are sorted. */
  due: string;
  sort: string;
  /** Which entries are listed if years are compared. */
  change: string;
  /** The rows of a CSV file. */
  rows: string;
}

/** What a list is checked for. */
export interface Wanted extends WantedReports {
  /** A date. Undefined for today. */
  asOf: string | undefined;
  due: DueFilter | undefined;
  sort: DecisionSort | undefined;
  change: Change | undefined;
  rows: "reports" | "decisions";
  /** What is not understood, each as a sentence. */
  unread: string[];
}

export function readAsked({ u, ...others }: Record<string, unknown>): Asked {
  const read = (value: unknown) => (value === undefined ? "" : [value].flat().join("\n").trim());
  return {
    list: read(u),
    year: cut(read(others.year), 60),
    aln: cut(read(pickProgram(others)), 100),
    as_of: cut(read(others.as_of), 20),
    due: cut(read(others.due), 20),
    sort: cut(read(others.sort), 20),
    change: cut(read(others.change), 20),
    rows: cut(read(others.rows), 20),
  };
}

/** Reads what a list is checked for. `known` are the audit years of the data set, the newest first. */
export function readWanted({ year, aln, as_of, due, sort, change, rows }: Asked, known: string[]): Wanted {
  const words = year.split(/[\s,;]+/).filter(Boolean);
  const isAll = words.some((word) => word.toLowerCase() === "all");
  const typed = words.filter((word) => word.toLowerCase() !== "all");
  const years = [...new Set(typed.map(readYear).filter((each) => each !== undefined))].sort().reverse();
  const asked = years.slice(0, mostYears);
  const compared = isAll ? known.slice(0, mostYears) : asked.length > 1 ? asked : undefined;
  const program = readAlnOrAgency(aln);
  const list = (names: string[]) => `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  const unread = [
    ...typed
      .filter((word) => readYear(word) === undefined)
      .map((word) => `“${word}” is not an audit year, such as 2023. It was ignored.`),
    years.length > mostYears &&
      `At most ${mostYears} audit years are compared. ${years.slice(mostYears).join(", ")} ${years.length > mostYears + 1 ? "were" : "was"} left out.`,
    aln !== "" &&
      program === undefined &&
      `“${aln}” is neither a program’s number, such as 93.778, nor an agency, such as 93 or HHS. It was ignored.`,
    as_of !== "" &&
      !isDate(as_of) &&
      `“${as_of}” is not a date from 1900 to 2099, such as 2026-01-31. It was ignored.`,
    due !== "" &&
      !isKey(dueFilters, due) &&
      `“${due}” is not a value of due: ${list(Object.keys(dueFilters))}. It was ignored.`,
    sort !== "" &&
      !isKey(decisionSorts, sort) &&
      `“${sort}” is not a value of sort: ${list(Object.keys(decisionSorts))}. It was ignored.`,
    change !== "" &&
      !isKey(changes, change) &&
      `“${change}” is not a value of change: ${list(Object.keys(changes))}. It was ignored.`,
    isKey(changes, change) &&
      compared === undefined &&
      "No years are compared, so “change” was ignored. Choose to compare years.",
    rows !== "" &&
      !isKey(rowsOfFiles, rows) &&
      `“${rows}” is not a value of rows: ${list(Object.keys(rowsOfFiles))}. It was ignored.`,
  ].filter((sentence) => sentence !== false);
  return {
    years: isAll || asked.length === 0 ? undefined : asked,
    compared,
    aln: program,
    asOf: isDate(as_of) ? as_of : undefined,
    due: isKey(dueFilters, due) ? due : undefined,
    sort: isKey(decisionSorts, sort) ? sort : undefined,
    change: compared && isKey(changes, change) ? change : undefined,
    rows: isKey(rowsOfFiles, rows) ? rows : "reports",
    unread,
  };
}

const rowsOfFiles = { reports: true, decisions: true };
const isKey = <Key extends string>(values: Readonly<Record<Key, unknown>>, typed: string): typed is Key =>
  Object.hasOwn(values, typed);

/** What was understood, as parameters. */
export const writeWanted = ({
  years,
  compared,
  aln,
  asOf,
  due,
  sort,
  change,
}: Wanted): Omit<Asked, "list" | "rows"> => ({
  year: years?.join(",") ?? (compared ? "all" : ""),
  aln: aln ?? "",
  as_of: asOf ?? "",
  due: due ?? "",
  sort: sort ?? "",
  change: change ?? "",
});
