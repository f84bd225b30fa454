import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Comparison } from "./measure.ts";
import type { RefreshFigures } from "./measure-refresh.ts";

export interface Results {
  machine: string;
  versions: Record<string, string>;
  measuredAt: string;
  submissions: number;
  turns: number;
  refresh: RefreshFigures;
  comparisons: Comparison[];
  tokenPairsPerSecond: Record<string, number>;
  megabytes: Record<string, number>;
}

/** Writes `RESULTS.md` for people and `results.json` for programs. */
export async function writeResults(directory: string, results: Results): Promise<void> {
  await writeFile(path.join(directory, "results.json"), `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(path.join(directory, "RESULTS.md"), formatResults(results));
}

function formatResults(results: Results): string {
  const { refresh } = results;
  const versions = Object.entries(results.versions).map(([name, version]) => `${name} ${version}`);
  return `# Measurements

Made by \`npm run bench -- --submissions ${results.submissions}\` on ${results.measuredAt}: ${results.machine}; ${versions.join(", ")}.
Milliseconds, the median of ${results.turns} turns in which the arms alternate, with the extremes. The load comes from the same
machine. “Common design” is \`common-design.sql\`: the same rows in the same PostgreSQL, behind the same PostgREST.

## Reads

${results.comparisons.map(formatComparison).join("\n\n")}

## Refresh

| | |
| --- | --- |
| rows | ${refresh.rows} |
| COPY alone, tables without indexes | ${refresh.bareCopyRowsPerSecond} rows/s |
| COPY of the refresh, with lines and checks of bytes | ${refresh.copyRowsPerSecond} rows/s (${ratio(refresh.copyRowsPerSecond, refresh.bareCopyRowsPerSecond)} of COPY alone) |
| the whole refresh, start of the process and bulk files included | ${refresh.pipelineRowsPerSecond} rows/s (${ratio(refresh.pipelineRowsPerSecond, refresh.bareCopyRowsPerSecond)}) |
| seconds by step | ${Object.entries(refresh.steps)
    .map(([step, seconds]) => `${step} ${seconds}`)
    .join(", ")} |
| peak memory of the Node process | ${refresh.peakMegabytes} MB |
| readers meanwhile | ${refresh.readers.requests} requests, ${refresh.readers.failed} failed, longest ${refresh.readers.longestMilliseconds} ms |

## One-time tokens

${Object.entries(results.tokenPairsPerSecond)
  .map(
    ([clients, rate]) =>
      `- ${clients} ${clients === "1" ? "client" : "clients"}: ${rate} tokens a second requested and redeemed`,
  )
  .join("\n")}

## Memory

${Object.entries(results.megabytes)
  .map(([name, megabytes]) => `- ${name}: ${megabytes} MB`)
  .join("\n")}
`;
}

function formatComparison({ name, arms }: Comparison): string {
  const [first] = Object.values(arms);
  const rows = Object.entries(arms).map(
    ([arm, { median, min, max }]) =>
      `| ${arm} | ${median.toFixed(1)} | ${min.toFixed(1)}–${max.toFixed(1)} | ${ratio(median, first?.median ?? median)} |`,
  );
  return `### ${name}\n\n| | median | range | ratio |\n| --- | ---: | ---: | ---: |\n${rows.join("\n")}`;
}

function ratio(value: number, base: number): string {
  return `${(value / base).toFixed(2)} ×`;
}
