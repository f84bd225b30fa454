import { loadavg } from "node:os";

/** A table of measured numbers: a row for each way that was measured, and a column for each quantity. */
export interface Table {
  title: string;
  /** What the numbers are, with their unit. */
  text: string;
  rows: Record<string, Record<string, number>>;
}

/** Writes the tables as Markdown, for bench/RESULTS.md. */
export function describeResults(environment: string, turns: number, tables: Table[]): string {
  const sections = tables.map(({ title, text, rows }) => `## ${title}\n\n${text}\n\n${formatRows(rows)}\n`);
  return `# Measurements of ${new Date().toISOString().slice(0, 10)}

${environment}. The load average at the end was ${loadavg().map(Math.round).join(", ")}.

CPU time is that of all programs together, except of the clients, which run on the same machine: the median of ${turns} turns.

${sections.join("\n")}`;
}

function formatRows(rows: Table["rows"]): string {
  const quantities = [...new Set(Object.values(rows).flatMap(Object.keys))];
  const cells = Object.entries(rows).map(([name, values]) => [
    name,
    ...quantities.map((quantity) => format(values[quantity])),
  ]);
  const align = ["---", ...quantities.map(() => "---:")];
  return [["", ...quantities], align, ...cells].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

const format = (value: number | undefined) =>
  value?.toLocaleString("en-US", { maximumSignificantDigits: Math.abs(value) < 100 ? 2 : 3 }) ?? "";
