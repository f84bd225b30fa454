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
  const load = loadavg().map(Math.round).join(", ");
  return `# Measurements

For maintainers: what requests, pages and refreshes cost.

\`npm run bench\` printed these figures in one run on ${new Date().toISOString().slice(0, 10)}, ${environment}. The load averages at the end were ${load}.
CPU time is the sum for all programs except the clients, which run on the same machine, and the median of ${turns} turns. Other load on the machine
makes it longer, so compare it only within a table. The common design is the shape that the Federal Audit Clearinghouse publishes: the same
rows in the same PostgreSQL behind PostgREST alone, with an index wherever this service has one for these requests.

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
