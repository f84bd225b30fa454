import { alnName, alnParts, writeAln } from "./aln.ts";
import { isMoney } from "./format-value.ts";

/** Excel reads a CSV file as UTF-8 only if it starts with a byte-order mark. */
export const byteOrderMark = "\ufeff";
const cells = /("[^"]*(?:""[^"]*)*"|[^,"\n]*)([,\n]|$)/g;
/**
 * Columns of codes, of which spreadsheets would read some as numbers or dates, such as 043015799, 10.010, 2023-001 and 12345678E123. All
 * their values are written alike, in every file: the columns of a list's entries and IDs, too.
 */
const codes =
  /(^|_)(ein|uei|alns?|zip(code)?|phone|extension|identification|passthrough_id|ref(erence)?_numbers?)$|agenc|^(entry|id|same_report_as)$/;
/** Values of other columns that spreadsheets would read as numbers or dates. */
const code = /^"?(0\d+|\d+\.\d*0|\d+e\d+|\d{4}-\d{1,3})"?$/i;
/** How formulas begin (OWASP, CSV injection). Negative numbers are not formulas. */
const formula = /^"?(?!-?\d+(?:\.\d+)?"?$)[=+\-@＝＋－＠\t\r\n]/;

/**
 * Changes CSV so that spreadsheets show the API's values: a text that begins like a formula gets an apostrophe before
 * it, codes are written like `="043015799"`, `t` becomes `true` in `is_public`, and an Assistance Listing number is one text.
 *
 * @param origin columns to add, with their value in each row
 */
export function adaptForSpreadsheets(csv: string, origin: Readonly<Record<string, string>> = {}): string {
  const start = csv.indexOf("\n") + 1;
  const names = csv.slice(0, start).trimEnd().split(",");
  const added = Object.values(origin).map((value) => `"${value.replaceAll('"', '""')}"`);
  return writeForSpreadsheets(
    [...names, ...Object.keys(origin)],
    readRows(csv.slice(start)).map((row) => [...row, ...added]),
  );
}

/** How many characters the addresses in all rows of a file may have together. */
const largestSources = 5_000_000;

/** The address of a file, for each of its rows. A longer one leaves out its list, marked as “u=…”, or all parameters. */
export function boundSource(address: string, rows: number): string {
  const withoutList = address.replace(/([?&]u=)[^&]*/g, "$1…");
  const shortEnough = [address, withoutList].find((each) => each.length * rows <= largestSources);
  return shortEnough ?? address.replace(/\?.*/s, "");
}

/** Writes rows as the CSV of `adaptForSpreadsheets`. Cells have the quotes that they need. */
export function writeForSpreadsheets(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first, second] = alnParts.map((part) => names.indexOf(part)) as [number, number];
  const hasAln = first >= 0 && second >= 0;
  const join = (row: readonly string[], whole: string) =>
    (hasAln ? row.with(first, whole).toSpliced(second, 1) : row).join(",");
  const adapters = names.map(adaptCells);
  const adaptWhole = adaptCells(alnName);
  const adapt = (row: readonly string[]) => {
    const whole = hasAln ? writeAln(unquote(row[first] ?? ""), unquote(row[second] ?? "")) : "";
    return join(
      row.map((text, index) => adapters[index]?.(text) ?? text),
      adaptWhole(/[",\n]/.test(whole) ? `"${whole.replaceAll('"', '""')}"` : whole),
    );
  };
  return `${join(names, alnName)}\n${rows.map((row) => `${adapt(row)}\n`).join("")}`;
}

/** Splits CSV into rows of cells, which keep their quotes. */
function readRows(csv: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, text = "", separator] of csv.matchAll(cells)) {
    // After the last line break, an empty match remains.
    if (separator === "" && row.length === 0 && text === "") break;
    row.push(text);
    if (separator === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const unquote = (text: string) => text.replace(/^"(.*)"$/s, "$1").replaceAll('""', '"');

/** Returns a function that changes a column's cells. */
function adaptCells(name: string): (text: string) => string {
  const hasCodes = codes.test(name);
  const isArray = name === "alns";
  const hasMoney = isMoney(name);
  return (cell) => {
    if (cell === "") return cell;
    // PostgreSQL writes an array like {1,2}.
    const text = isArray
      ? cell.replace(/^"?\{(.*)\}"?$/, (_all, list) => `"${list.replaceAll(",", "; ")}"`)
      : cell;
    if (formula.test(text)) return text.replace(/^"?/, "$&'");
    if (name === "is_public") return text.replace(/^t$/, "true").replace(/^f$/, "false");
    if (hasMoney) return text;
    // A formula can contain no line break and at most 255 characters of text.
    const isCode = hasCodes && /^"?[^"\n]{1,250}"?$/.test(text);
    return isCode || code.test(text) ? text.replace(/^"?(.*?)"?$/, '"=""$1"""') : text;
  };
}
