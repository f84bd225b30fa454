import { count } from "../finding-words.ts";
import { formatNumber } from "../format.ts";
import { isClean, nameVerdict } from "../verdict.ts";
import type { CheckedEntry, CheckedResult, WantedReports } from "./check-reports.ts";

/** The years that are compared, and the program or agency whose findings count. */
type Compared = Pick<WantedReports, "compared" | "aln">;

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
  clean: "Now clean",
  first: "Report for the newest of these years only",
  missing: "An earlier report, but none for the newest of these years",
} as const;
export type Change = keyof typeof changes;

/** The reports that are beside each other, the newest first. */
const listCompared = (entry: CheckedEntry, { compared = [] }: Compared): CheckedResult[] =>
  compared.map((year) => findReportOf(entry, year)).filter((report) => report !== undefined);

/** Whether an ID has a report for the newest of the compared years, but for none of the others. A report ID has only one report. */
const isFirst = (entry: CheckedEntry, { compared: [newest = "", ...earlier] = [] }: Compared): boolean =>
  entry.kind !== "report ID" &&
  earlier.length > 0 &&
  findReportOf(entry, newest) !== undefined &&
  earlier.every((year) => findReportOf(entry, year) === undefined);

/** Whether an ID has an earlier report, even one that is not compared, but none for the newest of the compared years. */
const isMissing = (entry: CheckedEntry, { compared: [newest = ""] = [] }: Compared): boolean =>
  entry.kind !== "report ID" &&
  findReportOf(entry, newest) === undefined &&
  ((entry.report ?? entry.other)?.filed ?? []).some((year) => year !== null && year < newest);

/** The results of the newest two compared reports, if they differ: "not clean", "clean". */
function listResults(entry: CheckedEntry, compared: Compared): [newer: string, older: string] | undefined {
  const [newer, older] = listCompared(entry, compared).map((report) =>
    nameVerdict(isClean(report)).toLowerCase(),
  );
  return newer === undefined || older === undefined || newer === older ? undefined : [newer, older];
}

/** Compares the findings of the newest two compared reports. Undefined if there is only one. */
function judgeChange(
  entry: CheckedEntry,
  compared: Compared,
): "more" | "new" | "fewer" | "none" | "same" | undefined {
  const [newer, older] = listCompared(entry, compared).map((report) =>
    compared.aln === undefined ? report.findings : (report.findings_on_aln ?? 0),
  );
  if (newer === undefined || older === undefined) return undefined;
  if (newer === older) return "same";
  if (older === 0) return "new";
  if (newer === 0) return "none";
  return newer > older ? "more" : "fewer";
}

/** Whether an entry changed in a way that is asked for. New findings are more, and no findings are fewer. */
export function hasChanged(entry: CheckedEntry, compared: Compared, change: Change): boolean {
  if (change === "missing") return isMissing(entry, compared);
  if (change === "first") return isFirst(entry, compared);
  if (change === "unclean" || change === "clean") {
    const results = change === "clean" ? "clean, not clean" : "not clean, clean";
    return listResults(entry, compared)?.join(", ") === results;
  }
  const judged = judgeChange(entry, compared);
  return (
    judged === change || (judged === "new" && change === "more") || (judged === "none" && change === "fewer")
  );
}

/** "more findings; no longer clean": all filters that an entry passes, or what else changed. Empty if there is nothing to compare. */
export function describeChange(entry: CheckedEntry, compared: Compared): string {
  const passed = Object.entries(changes).filter(([change]) => hasChanged(entry, compared, change as Change));
  if (passed.length > 0) return passed.map(([, words]) => words.toLowerCase()).join("; ");
  if (judgeChange(entry, compared) !== "same") return "";
  const [newer, older] = listResults(entry, compared) ?? [];
  return `same number of findings${newer === undefined ? "" : `; result changed from ${older} to ${newer}`}`;
}

/** Each report once, in the order of the list. */
export const listReports = (checked: CheckedEntry[]): CheckedResult[] => [
  ...new Map(checked.flatMap(({ reports }) => reports.map((report) => [report.report_id, report]))).values(),
];

/** "3 findings, 1 repeat": how many findings, and how many of these repeat earlier ones. */
export const describeRepeats = (findings: number, { repeat_findings: repeats }: CheckedResult): string =>
  `${count(findings, "finding")}${repeats > 0 ? `, ${count(repeats, "repeat")}` : ""}`;

/** "Clean", "3 findings, 1 repeat", "Not clean, no findings": what was found in a report. */
export function describeFound(report: CheckedResult, aln: string | undefined): string {
  if (report.findings > 0)
    return aln === undefined ? describeRepeats(report.findings, report) : count(report.findings, "finding");
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
