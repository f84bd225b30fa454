import { readFile, writeFile } from "node:fs/promises";
import { cpus, loadavg, totalmem } from "node:os";
import type { Finding } from "./part.ts";

export interface Row {
  name: string;
  title: string;
}

const mostFaultsShown = 10;

/** A finding for people at a terminal. */
export function formatFinding({ name }: Row, finding: Finding | undefined): string {
  if (finding === undefined) return `${name}: left out on this target`;
  const { figures, faults } = finding;
  return [
    `${name}: ${judge(finding)}; ${figures}`,
    ...faults.slice(0, mostFaultsShown).map((fault) => `- ${fault}`),
  ].join("\n");
}

function judge({ faults }: Finding): string {
  if (faults.length === 0) return "passed";
  return faults.length === 1 ? "1 fault" : `${faults.length} faults`;
}

/** Writes the target's table. A part that was not run now keeps its row of the last time, and so do other targets. */
export async function writeTable(
  file: string,
  rows: readonly Row[],
  findings: Map<string, Finding | undefined>,
  target: string,
): Promise<void> {
  const known = await readFile(file, "utf8").catch(() => "");
  const sections = new Map(
    known
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split("\n", 1)[0], section.trim()]),
  );
  const earlier = sections.get(target)?.split("\n") ?? [];
  const lines = rows.map(({ name, title }) => {
    const start = `| \`${name}\`: ${title} |`;
    if (findings.has(name)) return `${start} ${formatCell(findings.get(name))} | ${describeRun()} |`;
    return earlier.find((line) => line.startsWith(`| \`${name}\``)) ?? `${start} not run | |`;
  });
  const head = "| part | what came of it | run on |\n| --- | --- | --- |";
  sections.set(target, [target, "", head, ...lines].join("\n"));
  const [cpu] = cpus();
  const text = `# Torture

Written by \`npm run torture\`; \`npm run torture -- --help\` tells what else it can do. This machine:
${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}. The load is that of the last 15 minutes, of all that ran:
times at one above ${cpus().length} are longer than they need be.

${[...sections.values()].map((section) => `## ${section}\n`).join("\n")}`;
  await writeFile(file, text);
}

function formatCell(finding: Finding | undefined): string {
  if (finding === undefined) return "left out: it kills processes or reads logs";
  const faults = finding.faults.slice(0, mostFaultsShown);
  return [`${judge(finding)}: ${finding.figures}`, ...faults]
    .join("; ")
    .replace(/\s+/g, " ")
    .replaceAll("|", "\\|");
}

const describeRun = () => `${new Date().toISOString().slice(0, 10)}, load ${loadavg()[2]?.toFixed(0)}`;
