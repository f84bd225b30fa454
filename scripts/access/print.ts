import CliTable from "cli-table3";

const noLines = {
  ...{ top: "", "top-mid": "", "top-left": "", "top-right": "" },
  ...{ bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" },
  ...{ left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  " },
};

type Cell = string | number | null;

/** Rows as aligned columns under their names, for people. */
export function formatTable(names: string[], rows: Cell[][]): string {
  const table = new CliTable({
    head: names,
    chars: noLines,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => row.map(formatCell)));
  return trimLines(table.toString());
}

/** One thing as lines of name and value, for people; without the values that are null or empty. */
export function formatDetails(details: Record<string, Cell>): string {
  const rows = Object.entries(details).filter(([, value]) => value !== null && value !== "");
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${formatCell(value)}`).join("\n");
}

/** A time of the database to the minute, or what to say where there is none. */
export function formatTime(time: string | null, none = ""): string {
  return time === null ? none : `${time.slice(0, 16).replace("T", " ")}Z`;
}

/** What pipelines read. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Without control characters: a label must not be able to steer the terminal. */
function formatCell(value: Cell): string {
  return String(value ?? "").replaceAll(/\p{Cc}/gu, " ");
}

function trimLines(text: string): string {
  return text.replaceAll(/ +$/gm, "");
}
