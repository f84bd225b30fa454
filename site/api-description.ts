import { describedApi } from "./described-api.ts";

/** One served version of the API, as the reference and the explorer show it. */
export interface VersionDescription {
  /** As in accept-profile. */
  schema: string;
  title: string;
  description: string;
  /** The table that all others refer to comes first. */
  tables: Table[];
  functions: ServedFunction[];
}

export interface Table {
  name: string;
  title: string;
  description: string;
  columns: Column[];
  /** Columns that are unique together; none where no row can be told from the others of its report. */
  key: string[];
  /** Tables that a request may embed, as in `select=*,general(*)`. */
  embeds: string[];
}

export interface Column {
  name: string;
  /** As PostgreSQL calls it. */
  type: string;
  /** The column's name for people. */
  label: string;
  description: string;
  /** Values that the column is known to have; none where they are not few. */
  values: string[];
}

export interface ServedFunction {
  name: string;
  title: string;
  description: string;
  parameters: { name: string; type: string }[];
}

/**
 * Reads what publication.describe_api() tells.
 *
 * @param known values of columns by the end of their names, beside those that the columns' texts quote
 */
export function describeVersions(answer: unknown, known: Record<string, string[]>): VersionDescription[] {
  return describedApi.parse(answer).map(({ schema, description, tables, functions }) => ({
    schema,
    ...readText(description ?? ""),
    tables: tables.map((table) => ({
      ...table,
      ...readText(table.description),
      key: readKey(table),
      columns: table.columns.map((column) => ({
        ...column,
        ...readLabel(column),
        values: listValues(column, known),
      })),
    })),
    functions: functions.map((served) => ({ ...served, ...readText(served.description) })),
  }));
}

/** PostgREST has it so: the first line of a comment is a title. */
function readText(text: string): { title: string; description: string } {
  const [title = "", ...rest] = text.split("\n");
  return { title, description: unwrap(rest.join("\n")) };
}

/** A column's label is the first line of its comment. A comment of a single line has none. */
function readLabel({ name, description }: { name: string; description: string }) {
  const { title, description: text } = readText(description);
  if (text !== "") return { label: title, description: text };
  const words = name.replaceAll("_", " ");
  return { label: words.charAt(0).toUpperCase() + words.slice(1), description: title };
}

/** Joins lines that were broken for their length; an empty line stays a new paragraph. */
function unwrap(text: string): string {
  return text.trim().replace(/([^\n])\n(?=[^\n])/g, "$1 ");
}

/** What a table's description calls its key, where that is unique: `Key: report_id and award_reference.` */
function readKey({ description, columns }: { description: string; columns: { name: string }[] }): string[] {
  const [, list = ""] = /^Key: ([\w, ]+)/m.exec(description) ?? [];
  if (/\bkey is not unique\b/.test(description)) return [];
  const names = columns.map(({ name }) => name);
  return list.split(/,\s*|\s+and\s+/).filter((word) => names.includes(word));
}

/** What a text column's description quotes, if that is more than an example. */
function listValues(
  { name, type, description }: { name: string; type: string; description: string },
  known: Record<string, string[]>,
): string[] {
  const listed = Object.entries(known).find(([end]) => name.endsWith(end))?.[1];
  if (listed !== undefined) return listed;
  if (type !== "text" && !type.startsWith("character")) return [];
  const quoted = new Set(Array.from(description.matchAll(/"([^"]+)"/g), ([, value = ""]) => value));
  const values = [...quoted].filter((value) => !/NNNN|^AWARD-|^\d|[a-z] [a-z]/.test(value));
  return values.length > 1 ? values : [];
}
