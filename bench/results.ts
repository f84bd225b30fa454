import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

/** A number that was measured. A section is a table of RESULTS.md, with a row for each arm and a column for each quantity. */
export interface Figure {
  section: string;
  arm: string;
  /** The unit, and what it is of. More is better of a rate (it ends in "/s"), and less is better of everything else. */
  quantity: string;
  value: number;
  range?: [least: number, most: number];
}

export interface Results {
  machine: string;
  versions: string;
  measuredAt: string;
  publicReports: number;
  turns: number;
  figures: Figure[];
}

/** A figure that is worse by more than this share is reported. */
const tolerance = 0.1;

/** Reads the results of the last commit. Returns undefined if there are none. */
export async function readCommittedResults(directory: string): Promise<Results | undefined> {
  const { stdout } = await promisify(execFile)("git", ["show", "HEAD:./results.json"], {
    cwd: directory,
    maxBuffer: 2 ** 24,
  }).catch(() => ({ stdout: "" }));
  return stdout === "" ? undefined : JSON.parse(stdout);
}

/** Describes which figures are worse than before by more than 10 %. Results of other machines or sizes are not compared. */
export function compareResults(before: Results | undefined, now: Results): string {
  if (before?.figures === undefined) return "There are no earlier results to compare with.";
  if (before.machine !== now.machine || Math.abs(before.publicReports / now.publicReports - 1) > tolerance)
    return `Not compared with the results of ${before.measuredAt}, because the machine or the number of reports differs.`;
  const name = ({ section, arm, quantity }: Figure) => `${section}: ${arm}, ${quantity}`;
  const earlier = new Map(before.figures.map((figure) => [name(figure), figure.value]));
  const common = now.figures.filter((figure) => figure.value > 0 && (earlier.get(name(figure)) ?? 0) > 0);
  const losses = common.flatMap((figure) => {
    const was = earlier.get(name(figure)) ?? 0;
    const share = (figure.quantity.endsWith("/s") ? was / figure.value : figure.value / was) - 1;
    if (share <= tolerance) return [];
    return `- ${name(figure)}: ${format(was)} before, ${format(figure.value)} now (${Math.round(share * 100)} % worse)`;
  });
  const summary = `Compared with ${common.length} figures of ${before.measuredAt}`;
  return losses.length === 0
    ? `${summary}: nothing is more than 10 % worse.`
    : `${summary}, these are more than 10 % worse:\n\n${losses.join("\n")}`;
}

/** Writes `RESULTS.md` for people, and `results.json` for the next comparison. */
export async function writeResults(directory: string, results: Results, comparison: string): Promise<void> {
  const { figures, publicReports, turns, ...about } = results;
  const sections = [...new Set(figures.map(({ section }) => section))].map(
    (section) => `## ${section}\n\n${formatTable(figures.filter((each) => each.section === section))}\n`,
  );
  const text = `# Measurements

Written by \`npm run bench\` on ${about.measuredAt}, with ${publicReports.toLocaleString("en-US")} public reports:
${about.machine}; ${about.versions}.

Each figure is the median of ${turns} turns in which the arms alternate, with the extremes in parentheses. The load comes from
the same machine. CPU is per request. “Common design” is \`common-design.sql\`: the same rows in the same PostgreSQL,
behind the same PostgREST, with an index wherever this service has one.

${comparison}

${sections.join("\n")}`;
  await writeFile(path.join(directory, "results.json"), `${JSON.stringify(results, null, 1)}\n`);
  await writeFile(path.join(directory, "RESULTS.md"), text);
}

function formatTable(figures: Figure[]): string {
  const quantities = [...new Set(figures.map(({ quantity }) => quantity))];
  const rows = [...new Set(figures.map(({ arm }) => arm))].map((arm) => [
    arm,
    ...quantities.map((quantity) => {
      const found = figures.find((each) => each.arm === arm && each.quantity === quantity);
      const range = found?.range ? ` (${found.range.map(format).join("–")})` : "";
      return found === undefined ? "" : format(found.value) + range;
    }),
  ]);
  const align = ["---", ...quantities.map(() => "---:")];
  return [["", ...quantities], align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const format = (value: number) =>
  value.toLocaleString("en-US", { maximumSignificantDigits: value < 100 ? 2 : 3 });
