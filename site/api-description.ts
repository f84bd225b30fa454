import { z } from "zod";
import type { Codes } from "./codes.ts";
import { capitalize } from "./format.ts";

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
    .map(({ schema, description, tables, functions }) => {
      const columns = new Map(
        tables.map((table) => [table.name, describeColumns(table, known, readCodes(schema))]),
      );
      return {
        schema,
        ...readText(description ?? ""),
        tables: tables.map((table) => ({
          ...table,
          ...addKey(readText(table.description), table.key),
          columns: columns.get(table.name) ?? [],
          /** Columns of the report or award that a row belongs to, by which people filter. */
          related: listRelated(table, columns),
        })),
        functions: functions.map((served) => ({ ...served, ...readText(served.description) })),
      };
    });
}

/** The columns by which people filter the rows of other tables, by table. */
const related = Object.entries({ general: ["auditee_state", "entity_type"], federal_awards: ["is_direct"] });

/** Lists columns of the tables that a table's rows belong to, as a request names them: `general.auditee_state`. */
function listRelated<Described extends { name: string }>(
  { name: own, embeds, columns }: z.infer<typeof table>,
  described: Map<string, Described[]>,
): Described[] {
  // A report has many rows of each table that it embeds.
  if (own === "general") return [];
  return related
    .filter(([other]) => embeds.includes(other))
    .flatMap(([other, names]) =>
      names
        .filter((name) => !columns.some((column) => column.name === name))
        .flatMap((name) => described.get(other)?.find((column) => column.name === name) ?? [])
        .map((column) => ({ ...column, name: `${other}.${column.name}` })),
    );
}

function describeColumns(
  { name, columns }: z.infer<typeof table>,
  known: Record<string, string[]>,
  codes: Codes,
) {
  return columns.map((column) => {
    const place: Place = [name, column.name];
    const [, found] = Object.entries(known).find(([end]) => column.name.endsWith(end)) ?? [];
    return {
      ...column,
      ...readLabel(column),
      /** The values that the column can have. Empty if they are unknown or many. */
      values: found ?? findCodes(codes.values, place) ?? [],
      /** What the codes in the column mean. */
      words: findCodes(codes.words, place) ?? {},
    };
  });
}

type Place = [table: string, column: string];

/** What is known of a column, or else of a column with the same name in another table. */
function findCodes<Known>(known: Record<string, Known>, [table, column]: Place): Known | undefined {
  const same = Object.keys(known).find((place) => place.endsWith(`.${column}`));
  return known[`${table}.${column}`] ?? known[same ?? ""];
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
  return { label: capitalize(words), description: title };
}

/** Joins the lines of a paragraph. An empty line separates paragraphs. */
function unwrap(text: string): string {
  return text.trim().replace(/([^\n])\n(?=[^\n])/g, "$1 ");
}

function addKey({ title, description }: ReturnType<typeof readText>, key: string[]) {
  const text = key.length > 0 ? `Key: ${key.map((name) => `\`${name}\``).join(", ")}.` : "";
  return { title, description: [description, text].filter(Boolean).join("\n\n") };
}
