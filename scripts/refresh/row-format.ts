import { isUtf8 } from "node:buffer";

/** A column of a source file, with its type in the format of `format_type()`. */
export interface Column {
  name: string;
  type: string;
}

/**
 * A row's problem and the value that has it. Commas separate the columns and values of a key. Only the file of rejected rows may show the
 * value, because the report may be suppressed.
 */
export interface RowProblem {
  column?: string | undefined;
  value?: string | undefined;
  problem: string;
}

/** For example `column is_public`, or `columns report_id, award_reference`. */
export const nameColumns = (column: string) => `column${column.includes(",") ? "s" : ""} ${column}`;

/** For example `column is_public is not a boolean`. */
export const describeProblem = ({ column, problem }: RowProblem) =>
  `${column === undefined ? "the row" : nameColumns(column)} ${problem}`;

const year = String.raw`(?:19|20)\d\d`;
const leapYear = "(?:(?:19|20)(?:0[48]|[2468][048]|[13579][26])|2000)";
const monthAndDay = String.raw`(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))`;
const date = `(?:${year}-${monthAndDay}|${leapYear}-02-29)`;
const time = String.raw`${date}[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?`;
const timeProblem = "is not a time of the form 2023-01-31 12:00:00Z, from 1900 to 2099";
const number = String.raw`-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`;
const boolean =
  "(?:[Tt](?:[Rr][Uu][Ee])?|[Ff](?:[Aa][Ll][Ss][Ee])?|[Yy](?:[Ee][Ss])?|[Nn][Oo]?|[Oo](?:[Nn]|[Ff][Ff])|[01])";
const wholeNumber = (digits: number) => [
  String.raw`-?\d{1,${digits}}`,
  `is not a whole number of at most ${digits} digits`,
];

/**
 * The values that each type accepts. PostgreSQL would also read `today`, `infinity`, `0x1F` and `20230304`, but these
 * are probably mistakes, so they are refused. PostgreSQL accepts everything that a pattern accepts, except numbers and times
 * out of range.
 */
const formats: Record<string, string[] | undefined> = {
  boolean: [boolean, "is not a boolean such as t, false, Yes or 0"],
  date: [date, "is not a date of the form 2023-01-31, from 1900 to 2099"],
  smallint: wholeNumber(4),
  integer: wholeNumber(9),
  bigint: wholeNumber(18),
  numeric: [number, "is not a number"],
  real: [number, "is not a number"],
  "double precision": [number, "is not a number"],
  "timestamp without time zone": [time, timeProblem],
  "timestamp with time zone": [time, timeProblem],
};

const anyText = String.raw`(?:"[^"\0]*(?:""[^"\0]*)*"|[^",\r\n\0]*)`;
/**
 * The texts with B-tree indexes. PostgreSQL refuses an index entry of more than 2,704 bytes, and some entries have two texts. Its
 * error would not name the row.
 */
const indexedTexts = [
  ...["auditee_uei", "auditee_ein", "auditor_ein", "auditee_state", "award_reference", "reference_number"],
  ...["federal_agency_prefix", "federal_award_extension", "additional_uei", "additional_ein"],
];
const mostBytes = 1000;
const indexedText = String.raw`(?:"(?:[^"\0]|""){0,${mostBytes}}"|[^",\r\n\0]{0,${mostBytes}})`;
/** Matches a value even if its quotes are misplaced. Fails only if a quote is never closed. */
const looseValue = String.raw`(?:"[^"]*(?:""[^"]*)*"(?!")[^,\n]*|(?!")[^,\n]*)`;

/** What a value may look like in a file, and what is wrong if it does not. */
interface Format {
  pattern: string;
  problem: string;
}

/**
 * How the values of a column may be written in a file (RFC 4180). Works on bytes, read as Latin-1. An empty value without
 * quotes is null.
 */
function describeFormat({ name, type }: Column): Format {
  if (indexedTexts.includes(name))
    return { pattern: indexedText, problem: `is longer than ${mostBytes} bytes` };
  const [body, problem = ""] = name === "audit_year" ? auditYear : (formats[withoutModifier(type)] ?? []);
  if (body !== undefined) return { pattern: `(?:${body}|"${body}")?`, problem };
  const [, length] = /^character varying\((\d+)\)$/.exec(type) ?? [];
  return length === undefined ? { pattern: anyText, problem } : describeShortText(length);
}

const auditYear = [year, "is not a year from 1900 to 2099"];
/** For example `numeric` for `numeric(10,2)`. */
const withoutModifier = (type: string) => type.replace(/\(.*?\)/, "");

/** Counts characters: bytes 80 to BF continue the character before them. */
function describeShortText(length: string): Format {
  const quoted = String.raw`"(?:[^"\0\x80-\xbf][\x80-\xbf]*|""){0,${length}}"`;
  const unquoted = String.raw`(?:[^",\r\n\0\x80-\xbf][\x80-\xbf]*){0,${length}}`;
  return { pattern: `(?:${quoted}|${unquoted})`, problem: `is longer than ${length} characters` };
}

/** Matches a row of these columns that has no fault. */
export function matchRow(columns: Column[], lineBreak: string): RegExp {
  const values = columns.map((column) => describeFormat(column).pattern).join(",");
  return new RegExp(`${values}${lineBreak}`, "y");
}

/** Matches a row, whatever its faults, to the end of its last line. */
export const matchAnyRow = () => new RegExp(`${looseValue}(?:,${looseValue})*\n`, "y");

const splitPattern = new RegExp(`,(${looseValue}|.*)`, "gsy");

/** Splits a row into its values as they are written, quotes included. */
export function splitRow(row: string): string[] {
  return [...`,${row}`.matchAll(splitPattern)].map(([, value = ""]) => value);
}

/** The text of a value as it is written. */
export const unquote = (value: string) => value.replace(/^"(.*)"$/s, "$1").replaceAll('""', '"');

/** Writes values as a row (RFC 4180). */
export const writeRow = (values: unknown[]) => `${values.map(writeValue).join(",")}\n`;

function writeValue(value: unknown): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Says what is wrong with a row that `matchRow` refused, or that has bytes that are not UTF-8. */
export function describeRow(row: string, columns: Column[]): RowProblem {
  const values = splitRow(row);
  const isComplete = values.length === columns.length;
  for (const [index, value] of values.entries()) {
    const column = columns[index];
    const problem = describeText(value) ?? (isComplete && column ? describeValue(value, column) : undefined);
    if (problem !== undefined) return { column: column?.name, value: show(value), problem };
  }
  const count = values.length === 1 ? "1 value" : `${values.length} values`;
  const problem = isComplete
    ? "ends with another line break than the header"
    : `has ${count} where the header has ${columns.length}`;
  return { value: show(row), problem };
}

function describeValue(value: string, column: Column): string | undefined {
  const { pattern, problem } = describeFormat(column);
  return new RegExp(`^${pattern}$`).test(value) ? undefined : problem;
}

function describeText(value: string): string | undefined {
  if (!isUtf8(Buffer.from(value, "latin1"))) return "has a byte that is not UTF-8";
  if (value.includes("\0")) return "has a zero byte";
  if (new RegExp(`^${anyText}$`).test(value)) return undefined;
  if (value.startsWith('"')) return "has text after its closing quote";
  return value.includes('"')
    ? "has a quote in the middle"
    : "has a carriage return outside quotes, where lines end with a line feed";
}

/** The beginning of a value. As in the file of rejected rows, bytes that are not UTF-8 are replaced. */
export const show = (value: string) => Buffer.from(value, "latin1").toString("utf8").slice(0, 60);
