import { z } from "zod";
import type { Codes } from "./codes.ts";

/** One served version of the API. The explorer gets an array of them. */
export type VersionDescription = ReturnType<typeof describeVersions>[number];
export type Table = VersionDescription["tables"][number];
export type Column = Table["columns"][number];
export type ServedFunction = VersionDescription["functions"][number];

/** The name and PostgreSQL type of a column or parameter. */
const parameter = z.object({ name: z.string(), type: z.string() });
const column = parameter.extend({ description: z.string() });
const table = z.object({
  name: z.string(),
  description: z.string(),
  /** Columns that are unique together. Empty if the table has no key. Databases with older migrations do not return it. */
  key: z.array(z.string()).default([]),
  /** Columns that are never null. */
  required_columns: z.array(z.string()).default([]),
  columns: z.array(column),
  /** Tables that a request can embed: `select=*,general(*)`. */
  embeds: z.array(z.string()),
});
const version = z.object({
  /** The value of accept-profile. */
  schema: z.string(),
  description: z.string().nullable(),
  /** `general` comes first. */
  tables: z.array(table),
  functions: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.array(parameter) })),
});

/** The functions that clients may call with POST. The gateway refuses POST for all others. */
export const listCalls = ({ functions }: VersionDescription): ServedFunction[] =>
  functions.filter(({ name }) => name === "request_file_access");

/**
 * Parses the result of publication.describe_api().
 *
 * @param known values of columns, keyed by how the columns' names end
 * @param readCodes returns the other values, and the words of codes, of a version
 */
export function describeVersions(
  answer: unknown,
  known: Record<string, string[]>,
  readCodes: (schema: string) => Codes,
) {
  return z
    .array(version)
    .parse(answer)
    .map(({ schema, description, tables, functions }) => ({
      schema,
      ...readText(description ?? ""),
      tables: tables.map((table) => ({
        ...table,
        ...addKey(readText(table.description), table.key),
        columns: describeColumns(table, known, readCodes(schema)),
      })),
      functions: functions.map((served) => ({ ...served, ...readText(served.description) })),
    }));
}

function describeColumns(
  { name, columns }: z.infer<typeof table>,
  known: Record<string, string[]>,
  codes: Codes,
) {
  return columns.map((column) => {
    const place = `${name}.${column.name}`;
    const [, found] = Object.entries(known).find(([end]) => column.name.endsWith(end)) ?? [];
    return {
      ...column,
      ...readLabel(column),
      /** The values that the column can have. Empty if they are unknown or many. */
      values: found ?? codes.values[place] ?? [],
      /** What the letters of the column's values mean. */
      words: codes.words[place] ?? {},
    };
  });
}

/** The first line of a comment is its title, as in PostgREST. */
function readText(text: string) {
  const [title = "", ...rest] = text.split("\n");
  return { title, description: unwrap(rest.join("\n")) };
}

/** A column's label is the first line of its comment. A comment of a single line has none. */
function readLabel({ name, description }: z.infer<typeof column>) {
  const { title, description: text } = readText(description);
  if (text !== "") return { label: title, description: text };
  const words = name.replaceAll("_", " ");
  return { label: words.charAt(0).toUpperCase() + words.slice(1), description: title };
}

/** Joins the lines of a paragraph. An empty line separates paragraphs. */
function unwrap(text: string): string {
  return text.trim().replace(/([^\n])\n(?=[^\n])/g, "$1 ");
}

function addKey({ title, description }: ReturnType<typeof readText>, key: string[]) {
  const text = key.length > 0 ? `Key: ${key.map((name) => `\`${name}\``).join(", ")}.` : "";
  return { title, description: [description, text].filter(Boolean).join("\n\n") };
}
