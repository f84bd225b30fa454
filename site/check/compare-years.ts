import { count } from "../finding-words.ts";
import { formatNumber } from "../format.ts";
import { isClean, nameVerdict } from "../verdict.ts";
import type { CheckedEntry, CheckedResult, WantedReports } from "./check-reports.ts";

/** The audit years that are compared, the newest first: those that were asked for, or those that were found. */
export function listYears(checked: CheckedEntry[], { years, isByYear }: WantedReports): string[] {
  if (!isByYear) return [];
  const found = checked.flatMap(({ reports }) => reports.map(({ audit_year: year }) => year ?? ""));
  return years ?? [...new Set(found)].filter(Boolean).sort().reverse();
}

/** The newest report of an entry for an audit year. */
export const findReportOf = ({ reports }: CheckedEntry, year: string): CheckedResult | undefined =>
  reports.find(({ audit_year: each }) => each === year);

/**
 * How an entry changed from one of the compared years to the next, by the value of the parameter `change`. The page's filters and the CSV
 * file have these words.
 */
export const changes = {
  more: "More findings",
  new: "Findings where there were none",
  fewer: "Fewer findings",
  none: "No longer any findings",
  unclean: "No longer clean",
  missing: "A report for an earlier one of these years, none for the newest",
} as const;
export type Change = keyof typeof changes;

/** The reports that are beside each other, the newest first. */
const listCompared = (entry: CheckedEntry, years: string[]): CheckedResult[] =>
  years.map((year) => findReportOf(entry, year)).filter((report) => report !== undefined);

/** Whether an ID has a report for one of the compared years, but none for the newest. A report ID has only one report. */
const isMissing = (entry: CheckedEntry, [newest = "", ...earlier]: string[]): boolean =>
  entry.kind !== "report ID" &&
  findReportOf(entry, newest) === undefined &&
  earlier.some((year) => findReportOf(entry, year) !== undefined);

/** Compares the findings of the newest two compared reports. Undefined if there is only one. */
function judgeChange(
  entry: CheckedEntry,
  { years, aln }: Compared,
): Exclude<Change, "unclean" | "missing"> | "same" | undefined {
  const [newer, older] = listCompared(entry, years).map((report) =>
    aln === undefined ? report.findings : (report.findings_on_aln ?? 0),
  );
  if (newer === undefined || older === undefined) return undefined;
  if (newer === older) return "same";
  if (older === 0) return "new";
  if (newer === 0) return "none";
  return newer > older ? "more" : "fewer";
}

/** Whether an entry changed in a way that is asked for. New findings are more, and no findings are fewer. */
export function hasChanged(entry: CheckedEntry, compared: Compared, change: Change): boolean {
  if (change === "missing") return isMissing(entry, compared.years);
  if (change === "unclean") {
    const [newer, older] = listCompared(entry, compared.years);
    return newer !== undefined && older !== undefined && !!isClean(older) && isClean(newer) === false;
  }
  const judged = judgeChange(entry, compared);
  return (
    judged === change || (judged === "new" && change === "more") || (judged === "none" && change === "fewer")
  );
}

/** "more findings; no longer clean": all filters that an entry passes. Empty if it has no two reports to compare. */
export function describeChange(entry: CheckedEntry, compared: Compared): string {
  const passed = Object.entries(changes).filter(([change]) => hasChanged(entry, compared, change as Change));
  if (passed.length > 0) return passed.map(([, words]) => words.toLowerCase()).join("; ");
  return judgeChange(entry, compared) === "same" ? "same number of findings" : "";
}

interface Compared {
  /** The newest first. */
  years: string[];
  /** Only findings on this program or agency count. */
  aln: string | undefined;
}

/** Each report once, in the order of the list. */
export const listReports = (checked: CheckedEntry[]): CheckedResult[] => [
  ...new Map(checked.flatMap(({ reports }) => reports.map((report) => [report.report_id, report]))).values(),
];

/** "Clean", "3 findings", "Not clean, no findings": what was found in a report. */
export function describeFound(report: CheckedResult): string {
  if (report.findings > 0) return count(report.findings, "finding");
  const verdict = isClean(report);
  return verdict ? "Clean" : `${nameVerdict(verdict)}, no findings`;
}

/** "12 are clean, 2 are not clean, and 1 does not say. 2 have findings: 34 in all, 5 on 93.778." Empty if there is no report. */
export function describeReports(reports: CheckedResult[], aln: string | undefined): string {
  if (reports.length === 0) return "";
  const verdicts = reports.map((report) => isClean(report));
  const tell = (number: number, one: string, more: string) =>
    number > 0 && `${formatNumber(number)} ${number === 1 ? one : more}`;
  const parts = [
    tell(verdicts.filter((verdict) => verdict === true).length, "is clean", "are clean"),
    tell(verdicts.filter((verdict) => verdict === false).length, "is not clean", "are not clean"),
    tell(verdicts.filter((verdict) => verdict === undefined).length, "states no opinion", "state no opinion"),
  ].filter((part) => part !== false);
  const withFindings = reports.filter(({ findings }) => findings > 0);
  const sum = withFindings.reduce((total, { findings }) => total + findings, 0);
  const onAln = reports.reduce((total, { findings_on_aln: findings }) => total + (findings ?? 0), 0);
  const have = tell(withFindings.length, "has findings", "have findings");
  return [
    `${parts.join(", ")}.`,
    have
      ? `${have}: ${formatNumber(sum)} in all${aln ? `, ${formatNumber(onAln)} on ${aln}` : ""}.`
      : "None has findings.",
  ].join(" ");
}
