/** A measured number. Each section is a table, with a row for each arm and a column for each quantity. */
export interface Figure {
  section: string;
  arm: string;
  /** What was measured, with its unit. */
  quantity: string;
  value: number;
  /** The lowest and highest value of a turn. */
  least?: number;
  most?: number;
}

/** Writes the figures as Markdown, for bench/RESULTS.md. */
export function describeResults({
  environment,
  reports,
  turns,
  figures,
}: {
  environment: string;
  reports: number;
  turns: number;
  figures: Figure[];
}): string {
  const sections = [...new Set(figures.map(({ section }) => section))].map(
    (section) => `## ${section}\n\n${formatTable(figures.filter((each) => each.section === section))}\n`,
  );
  return `# Measurements of ${new Date().toISOString().slice(0, 10)}

With ${reports.toLocaleString("en-US")} public reports: ${environment}.

CPU time is that of all programs together, except of the clients, which run on the same machine: the median of ${turns} turns.
“Common design” is \`common-design.sql\`: the same rows in the same PostgreSQL, behind a PostgREST alone, with an index wherever
this service has one for these requests. “PostgREST alone” reads this service's views, and calls no function before each request.

${sections.join("\n")}`;
}

function formatTable(figures: Figure[]): string {
  const quantities = [...new Set(figures.map(({ quantity }) => quantity))];
  const rows = [...new Set(figures.map(({ arm }) => arm))].map((arm) => [
    arm,
    ...quantities.map((quantity) => {
      const found = figures.find((each) => each.arm === arm && each.quantity === quantity);
      if (found === undefined) return "";
      const { value, least, most } = found;
      return least === undefined || most === undefined
        ? format(value)
        : `${format(value)} (${format(least)}–${format(most)})`;
    }),
  ]);
  const align = ["---", ...quantities.map(() => "---:")];
  return [["", ...quantities], align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const format = (value: number) =>
  value.toLocaleString("en-US", { maximumSignificantDigits: value < 100 ? 2 : 3 });
