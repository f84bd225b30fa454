/** A row of a view in the schema `access`, as JSON. Times are ISO 8601 in UTC. */
export type Row = Record<string, unknown>;

/** Formats some columns of the rows as an aligned table. */
export function formatTable(columns: string[], rows: Row[]): string {
  const lines = [
    columns.map((name) => readable(name).toUpperCase()),
    ...rows.map((row) => columns.map((name) => formatValue(row[name], name))),
  ];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats a row as lines of names and values. Leaves out null and empty values. */
export function formatRow(row: Row): string {
  const cells = Object.entries(row).map(
    ([name, value]) => [readable(name), formatValue(value, name)] as const,
  );
  const filled = cells.filter(([, value]) => value !== "");
  const width = Math.max(...filled.map(([name]) => name.length));
  return filled.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}

const readable = (name: string) => name.replaceAll("_", " ");
/** What to show if these columns are null. */
const withoutValue: Record<string, string> = { expires_at: "never", last_used_on: "never" };

export function formatValue(value: unknown, name = ""): string {
  if (value === null || value === undefined) return withoutValue[name] ?? "";
  const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*$/.exec(String(value));
  if (time !== null) return `${time[1]} ${time[2]}Z`;
  // Removes control characters, so that a label cannot control the terminal.
  return String(value).replaceAll(/\p{Cc}/gu, " ");
}
