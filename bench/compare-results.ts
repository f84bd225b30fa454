import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Results } from "./write-results.ts";

/** A figure that both runs have. A cost is better when it is less, a rate when it is more. */
interface Figure {
  name: string;
  value: number;
  isCost: boolean;
}

export interface Loss {
  name: string;
  before: number;
  now: number;
  /** How much worse: 0.2 where a cost has grown, or the time that a rate stands for, by a fifth. */
  share: number;
}

/** What the comparison of two runs has found. */
export interface ComparedResults {
  measuredAt: string;
  /** Figures that were compared. */
  compared: number;
  losses: Loss[];
  /** Why absolute figures were left out, if they were. */
  caveat?: string;
}

/** A figure that is worse by more than this share has lost. */
const tolerance = 0.15;

/** What two runs have in common, so that it can be compared. */
type Basis = "figures" | "ratios" | "look-ups";
const caveats: Partial<Record<Basis, string>> = {
  ratios: "another machine: ratios alone",
  "look-ups": "another amount of rows: ratios of look-ups alone",
};

/** The results of the last commit, if there are any. */
export async function readCommittedResults(directory: string): Promise<Partial<Results> | undefined> {
  const { stdout } = await promisify(execFile)("git", ["show", "HEAD:./results.json"], {
    cwd: directory,
    maxBuffer: 2 ** 24,
  }).catch(() => ({ stdout: "" }));
  return stdout === "" ? undefined : JSON.parse(stdout);
}

/**
 * Names what has lost more than 15 % against earlier results. Those of another machine are compared by their ratios alone:
 * what an arm takes of the first arm beside it. Where the amount of rows is another, look-ups alone are compared: the other
 * measurements grow with the rows, each arm in its own way.
 */
export function compareResults(before: Partial<Results>, now: Results): ComparedResults {
  const hasSameRows = Math.abs((before.publicReports ?? 0) / now.publicReports - 1) < tolerance;
  const basis = !hasSameRows ? "look-ups" : before.machine === now.machine ? "figures" : "ratios";
  const earlier = new Map(listFigures(before, basis).map((figure) => [figure.name, figure.value]));
  const common = listFigures(now, basis).filter(
    ({ name, value }) => value > 0 && (earlier.get(name) ?? 0) > 0,
  );
  const losses = common
    .map(({ name, value, isCost }) => {
      const was = earlier.get(name) ?? 0;
      return { name, before: was, now: value, share: (isCost ? value / was : was / value) - 1 };
    })
    .filter(({ share }) => share > tolerance)
    .toSorted((one, other) => other.share - one.share);
  return {
    measuredAt: before.measuredAt ?? "",
    compared: common.length,
    losses,
    ...(caveats[basis] !== undefined && { caveat: caveats[basis] }),
  };
}

/** The outcome as lines of Markdown. */
export function describeLosses({ measuredAt, compared, losses, caveat }: ComparedResults): string {
  const basis = `${compared} figures were compared with those of ${measuredAt}${caveat === undefined ? "" : ` (${caveat})`}`;
  if (losses.length === 0) return `${basis}: none is more than 15 % worse.`;
  return [
    `${basis}. More than 15 % worse:\n`,
    ...losses.map(
      ({ name, before, now, share }) =>
        `- ${name}: ${before.toPrecision(3)} before, ${now.toPrecision(3)} now (${Math.round(share * 100)} %)`,
    ),
  ].join("\n");
}

function listFigures(results: Partial<Results>, basis: Basis): Figure[] {
  const { lookUps, pages, walks, refresh, tokenPairsPerSecond = {}, megabytes } = results;
  const rates = Object.entries(lookUps?.arms ?? {}).map(
    ([arm, { perSecond }]) => [arm, perSecond.median] as const,
  );
  const comparisons = [
    ...(pages?.filtered ?? []),
    ...[pages?.large, pages?.conditional, walks?.whole, walks?.ends].filter((each) => each !== undefined),
  ];
  const costs = comparisons.map(({ name, arms }) => ({
    // The number of pages is of the data set, and no part of the name.
    name: name.replace(/, \d+ pages.*|, at offset \d+/, ""),
    arms: Object.entries(arms).map(([arm, { cpu }]) => [arm, cpu.postgres] as const),
  }));
  const absolute = [
    ...rates.map(([arm, value]) => ({ name: `look-ups a second, ${arm}`, value, isCost: false })),
    ...costs.flatMap(({ name, arms }) =>
      arms.map(([arm, value]) => ({ name: `${name}, ${arm}: ms of PostgreSQL`, value, isCost: true })),
    ),
    { name: "rows a second of the whole refresh", value: refresh?.pipelineRowsPerSecond ?? 0, isCost: false },
    ...Object.entries(tokenPairsPerSecond).map(([clients, value]) => ({
      name: `tokens a second, ${clients} clients`,
      value,
      isCost: false,
    })),
    ...Object.entries(megabytes?.atMost ?? {}).map(([name, value]) => ({
      name: `MB at most, ${name}`,
      value,
      isCost: true,
    })),
  ];
  const lookUpRatios = relate(rates, (arm, first) => `look-ups, ${arm} to ${first}`, false);
  if (basis === "look-ups") return lookUpRatios;
  return [
    ...(basis === "figures" ? absolute : []),
    ...lookUpRatios,
    ...costs.flatMap(({ name, arms }) => relate(arms, (arm, first) => `${name}, ${arm} to ${first}`, true)),
    {
      name: "the whole refresh to COPY alone",
      value: (refresh?.pipelineRowsPerSecond ?? 0) / (refresh?.bareCopyRowsPerSecond ?? 1),
      isCost: false,
    },
  ];
}

/**
 * Each arm to the first. Where the arms are costs, the first is ours and the others what it is compared with: it has lost
 * when they cost less of it.
 */
function relate(
  arms: (readonly [string, number])[],
  describe: (arm: string, first: string) => string,
  areCosts: boolean,
): Figure[] {
  const [[first, base] = ["", 0], ...others] = arms;
  return others.map(([arm, value]) => ({
    name: describe(arm, first),
    value: base === 0 ? 0 : value / base,
    isCost: areCosts && !arm.startsWith("common design") && !arm.startsWith("…"),
  }));
}
