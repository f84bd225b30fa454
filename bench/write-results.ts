import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Comparison } from "./measure.ts";
import type { IndexFigures } from "./measure-indexes.ts";
import type { LookUpFigures } from "./measure-look-ups.ts";
import { largePageRows, type PageFigures } from "./measure-pages.ts";
import type { RefreshFigures } from "./measure-refresh.ts";
import type { SizeFigures } from "./measure-sizes.ts";
import type { WalkFigures } from "./measure-walks.ts";

export interface Results {
  machine: string;
  versions: Record<string, string>;
  measuredAt: string;
  publicReports: number;
  turns: number;
  refresh: RefreshFigures;
  sizes: SizeFigures[];
  indexes: IndexFigures[];
  lookUps: LookUpFigures;
  pages: PageFigures;
  walks: WalkFigures;
  tokenPairsPerSecond: Record<string, number>;
  megabytes: Record<"atRest" | "atMost", Record<string, number>>;
}

/**
 * Writes `RESULTS.md` for people, `results.json` for programs, and the plans as `PLANS.md`.
 *
 * @param beside.losses what RESULTS.md says of the results before, if there were any
 */
export async function writeResults(
  directory: string,
  results: Results,
  { plans, losses }: { plans: string; losses?: string | undefined },
): Promise<void> {
  await writeFile(path.join(directory, "results.json"), `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(path.join(directory, "RESULTS.md"), formatResults(results, losses));
  await writeFile(path.join(directory, "PLANS.md"), plans);
}

function formatResults(results: Results, losses?: string): string {
  const { refresh, lookUps, pages, walks, megabytes } = results;
  const versions = Object.entries(results.versions).map(([name, version]) => `${name} ${version}`);
  return `# Measurements

Made by \`npm run bench\` on ${results.measuredAt} with ${thousands(results.publicReports)} public reports and ${thousands(refresh.rows)} rows in all:
${results.machine}; ${versions.join(", ")}.
Medians of ${results.turns} turns in which the arms alternate, with the extremes. The load comes from the same machine.
“Common design” is \`common-design.sql\`: the same rows in the same PostgreSQL, behind the same PostgREST, an index
wherever ours has one; PostgreSQL is given the machine's memory (DATABASE_MEMORY). Wall is what a client waits; PostgreSQL is the CPU time of its processes. A ratio is that to
the first line. Plans are in \`PLANS.md\`.
${losses === undefined ? "" : `\n## Against the results before\n\n${losses}\n`}
## Look-ups of a report by its ID

${lookUps.connections} connections, ${thousands(lookUps.requests)} look-ups a turn. CPU time is that of one look-up.

${formatTable(
  ["", "a second", "range", "ratio", "p50 ms", "p99 ms", "CPU µs: PostgreSQL", "PostgREST", "gateway"],
  Object.entries(lookUps.arms).map(([arm, { perSecond, p50, p99, cpu }]) => [
    arm,
    thousands(perSecond.median),
    `${thousands(perSecond.min)}–${thousands(perSecond.max)}`,
    ratio(perSecond.median, Object.values(lookUps.arms)[0]?.perSecond.median),
    p50.toFixed(1),
    p99.toFixed(1),
    cpu.postgres.toFixed(0),
    cpu.postgrest.toFixed(0),
    cpu.node.toFixed(0),
  ]),
)}

## Filtered pages of 1,000 rows

${pages.filtered.map(formatComparison).join("\n\n")}

## Large pages

${formatComparison(pages.large)}

${formatTable(
  ["", "MB", "MB/s", "CPU µs a row: PostgreSQL", "PostgREST", "gateway"],
  Object.entries(pages.large.arms).map(([arm, { wall, cpu }]) => [
    arm,
    ((pages.bytes[arm] ?? 0) / 1e6).toFixed(1),
    ((pages.bytes[arm] ?? 0) / 1000 / wall.median).toFixed(1),
    ((cpu.postgres * 1000) / largePageRows).toFixed(1),
    ((cpu.postgrest * 1000) / largePageRows).toFixed(1),
    ((cpu.node * 1000) / largePageRows).toFixed(1),
  ]),
)}

${formatComparison(pages.conditional)}

## Whole tables

${walks.measuredPages} of ${walks.pages} pages were measured, evenly spaced, and multiplied.

${formatComparison(walks.whole)}

${formatComparison(walks.ends)}

## Refresh

${formatRefresh(results)}

### What the tables take

${formatTable(
  ["table", "rows", "MB of rows", "bytes a row", "MB beside them (TOAST)", "MB of indexes"],
  results.sizes.map(({ table, rows, megabytes: { heap, toast, indexes }, bytesPerRow }) => [
    table,
    thousands(rows),
    heap.toFixed(1),
    bytesPerRow.toFixed(0),
    toast.toFixed(1),
    indexes.toFixed(1),
  ]),
)}

### What each index costs

${formatTable(
  ["index", "rows", "seconds", "MB", "serves"],
  results.indexes.map(({ name, rows, seconds, megabytes: size, serves }) => [
    name,
    thousands(rows),
    seconds.toFixed(2),
    size.toFixed(1),
    serves.replaceAll("|", "\\|"),
  ]),
)}

## One-time tokens, requested and redeemed

${formatTable(
  ["clients", "a second"],
  Object.entries(results.tokenPairsPerSecond).map(([clients, rate]) => [clients, String(rate)]),
)}

## Memory

${formatTable(
  ["MB", "at rest", "at most"],
  Object.entries(megabytes.atMost).map(([name, most]) => [
    name,
    String(megabytes.atRest[name] ?? ""),
    String(most),
  ]),
)}
`;
}

function formatRefresh({ refresh, indexes }: Results): string {
  const least =
    refresh.rows / refresh.bareCopyRowsPerSecond + indexes.reduce((sum, { seconds }) => sum + seconds, 0);
  const whole = refresh.rows / refresh.pipelineRowsPerSecond;
  return formatTable(
    ["", ""],
    [
      ["COPY alone, tables without indexes", `${thousands(refresh.bareCopyRowsPerSecond)} rows/s`],
      [
        "COPY of the refresh, with lines and checks of bytes",
        `${thousands(refresh.copyRowsPerSecond)} rows/s (${ratio(refresh.copyRowsPerSecond, refresh.bareCopyRowsPerSecond)})`,
      ],
      [
        "the whole refresh, start of the process and bulk files included",
        `${thousands(refresh.pipelineRowsPerSecond)} rows/s (${ratio(refresh.pipelineRowsPerSecond, refresh.bareCopyRowsPerSecond)})`,
      ],
      [
        "the same, to COPY alone and the indexes below",
        `${whole.toFixed(1)} s to ${least.toFixed(1)} s (${ratio(whole, least)})`,
      ],
      [
        "seconds by step",
        Object.entries(refresh.steps)
          .map(([step, seconds]) => `${step} ${seconds}`)
          .join(", "),
      ],
      ["peak memory of the Node process", `${refresh.peakMegabytes} MB`],
      [
        "readers meanwhile",
        `${thousands(refresh.readers.requests)} requests, ${refresh.readers.failed} failed; longest while loading ${refresh.readers.longestLoading} ms, from the publication on ${refresh.readers.longestPublishing} ms`,
      ],
    ],
  );
}

function formatComparison({ name, arms }: Comparison): string {
  const [first] = Object.values(arms);
  const rows = Object.entries(arms).map(([arm, { wall, cpu }]) => [
    arm,
    wall.median.toFixed(1),
    `${wall.min.toFixed(1)}–${wall.max.toFixed(1)}`,
    ratio(wall.median, first?.wall.median),
    cpu.postgres.toFixed(1),
    ratio(cpu.postgres, first?.cpu.postgres),
  ]);
  return `### ${name}\n\n${formatTable(["ms", "wall", "range", "ratio", "PostgreSQL", "ratio"], rows)}`;
}

function formatTable(head: string[], rows: string[][]): string {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function ratio(value: number, base = value): string {
  return `${(value / base).toFixed(2)} ×`;
}

function thousands(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
