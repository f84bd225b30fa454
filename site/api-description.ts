import { z } from "zod";

/** One served version of the API. */
export interface VersionDescription {
  /** The value of accept-profile. */
  schema: string;
  title: string;
  description: string;
  /** `general` comes first. */
  tables: Table[];
  functions: ServedFunction[];
}

export interface Table {
  name: string;
  title: string;
  description: string;
  columns: Column[];
  /** Columns that are unique together. Empty if the table has no unique key. */
  key: string[];
  /** Tables that a request can embed: `select=*,general(*)`. */
  embeds: string[];
}

export interface Column {
  name: string;
  /** The PostgreSQL type. */
  type: string;
  /** The column's name for people. */
  label: string;
  description: string;
  /** The values that the column can have. Empty if they are unknown or many. */
  values: string[];
}

export interface ServedFunction {
  name: string;
  title: string;
  description: string;
  parameters: { name: string; type: string }[];
}

const column = z.object({ name: z.string(), type: z.string(), description: z.string() });
const versions = z.array(
  z.object({
    schema: z.string(),
    description: z.string().nullable(),
    tables: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        columns: z.array(column),
        embeds: z.array(z.string()),
      }),
    ),
    functions: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        parameters: z.array(column.omit({ description: true })),
      }),
    ),
  }),
);

/**
 * Reads the answer of publication.describe_api().
 *
 * @param known values of columns, by the end of the columns' names. Other values come from the columns' descriptions
 */
export function describeVersions(answer: unknown, known: Record<string, string[]>): VersionDescription[] {
  return versions.parse(answer).map(({ schema, description, tables, functions }) => ({
    schema,
    ...readText(description ?? ""),
    tables: tables.map((table) => ({
      ...table,
      ...readText(table.description),
      key: readKey(table),
      columns: table.columns.map((each) => ({
        ...each,
        ...readLabel(each),
        values: listValues(each, known),
      })),
    })),
    functions: functions.map((served) => ({ ...served, ...readText(served.description) })),
  }));
}

/** The first line of a comment is its title, as in PostgREST. */
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

/** Joins the lines of a paragraph. An empty line separates paragraphs. */
function unwrap(text: string): string {
  return text.trim().replace(/([^\n])\n(?=[^\n])/g, "$1 ");
}

/** Reads the key from a table's description: `Key: report_id and award_reference.` */
function readKey({ description, columns }: { description: string; columns: { name: string }[] }): string[] {
  const [, list = ""] = /^Key: ([\w, ]+)/m.exec(description) ?? [];
  if (/\bkey is not unique\b/.test(description)) return [];
  const names = columns.map(({ name }) => name);
  return list.split(/,\s*|\s+and\s+/).filter((word) => names.includes(word));
}

/** Lists the values that a text column's description quotes, if it quotes more than an example. */
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
