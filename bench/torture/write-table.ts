import { readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem } from "node:os";
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

/** Writes the table. A part that was not run now keeps its row of the last time. */
export async function writeTable(
  file: string,
  rows: readonly Row[],
  findings: Map<string, Finding | undefined>,
  target: string,
): Promise<void> {
  const known = await readFile(file, "utf8").catch(() => "");
  const today = new Date().toISOString().slice(0, 10);
  const lines = rows.map(({ name, title }) => {
    const start = `| \`${name}\`: ${title} |`;
    const last = known.split("\n").find((line) => line.startsWith(`| \`${name}\``));
    if (!findings.has(name)) return last ?? `${start} not run | | |`;
    const finding = findings.get(name);
    if (finding === undefined)
      return `${start} left out: it kills processes or reads logs | ${target} | ${today} |`;
    const text = [`${judge(finding)}: ${finding.figures}`, ...finding.faults.slice(0, mostFaultsShown)].join(
      "; ",
    );
    return `${start} ${text.replace(/\s+/g, " ").replaceAll("|", "\\|")} | ${target} | ${today} |`;
  });
  const [cpu] = cpus();
  const text = `# Torture

Written by \`npm run torture\`; \`npm run torture -- --help\` tells what else it can do. This machine:
${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}.

| part | what came of it | target | run on |
| --- | --- | --- | --- |
${lines.join("\n")}
`;
  await writeFile(file, text);
}
