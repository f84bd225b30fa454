import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { hashSql } from "../sql/read-sql-file.ts";
import type { Contract } from "./contract.ts";

/** The columns that are unique together in each view, by schema and view. */
export type Keys = Record<string, Record<string, string[]>>;

export async function readKeys(client: Client): Promise<Keys> {
  const { rows } = await client.query<{ schema: string; keys: Record<string, string[]> }>(
    `select served_schemas.name as schema, json_object_agg(view.relname, keys.columns order by view.relname) as keys
     from (select view_id, min(columns) as columns from publication.view_keys group by view_id) as keys
     join pg_catalog.pg_class as view on view.oid = keys.view_id
     join publication.served_schemas on served_schemas.oid = view.relnamespace
     group by served_schemas.name`,
  );
  return Object.fromEntries(rows.map(({ schema, keys }) => [schema, keys]));
}

/** The columns that an abbreviation or its long form stands for, by schema and view. */
export type Called = Record<string, Record<string, Record<string, string[]>>>;

/**
 * Reads other words for columns from the columns' descriptions, such as "Assistance Listing number (ALN, formerly CFDA)".
 * Leaves out abbreviations with which a column's name ends in the same view.
 */
export async function readCalled(client: Client): Promise<Called> {
  const { rows } = await client.query<{ schema: string; called: Called[string] }>(
    `with columns as (
       select served_schemas.name as schema, view.relname as view, attribute.attname as name, attribute.attnum as place,
         col_description(view.oid, attribute.attnum) as description
       from publication.served_schemas
       join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid and view.relkind = 'v'
       join pg_catalog.pg_attribute as attribute on attribute.attrelid = view.oid and attribute.attnum > 0
     ), matches as (
       select distinct schema, view, name, place, replace(trim(lower(found[1])), ' ', '_') as long, lower(found[2]) as short, lower(found[3]) as former
       from columns,
         regexp_matches(description, '((?:[A-Z][a-z]+ )+(?:[a-z]+ )?)\\(([A-Z]{3,})(?:, formerly ([A-Z]{3,}))?\\)', 'g') as found
       where not exists (
         select from columns as others
         where (others.schema, others.view) = (columns.schema, columns.view) and others.name like '%\\_' || lower(found[2])
       )
     ), words as (
       select schema, view, word, json_agg(name order by place) as names
       from (
         select distinct schema, view, name, place, word
         from matches, unnest(array[long, short, former]) as word
         where word is not null
       ) as said
       group by schema, view, word
     ), views as (
       select schema, view, json_object_agg(word, names order by word) as words from words group by schema, view
     )
     select schema, json_object_agg(view, words order by view) as called from views group by schema`,
  );
  return Object.fromEntries(rows.map(({ schema, called }) => [schema, called]));
}

const plugin = "gateway/plugins/single-audit";
const settings = "scripts/stack/postgrest.env";

/**
 * Compares what files outside `db` repeat of the served schemas: their names, which PostgREST uses if it cannot read
 * request.pre_config(), and their tables' keys, columns and other words for columns, with which the gateway completes orders and
 * explains errors.
 *
 * @param directory a `db` directory; files that are not beside it are not compared
 * @param write whether to correct the files
 * @returns what differs
 */
export async function checkServedFiles(
  directory: string,
  served: Contract[],
  keys: Keys,
  called: Called,
  write: boolean,
): Promise<string[]> {
  const find = (name: string) => path.resolve(directory, "..", name);
  if (!existsSync(find(settings))) return [];
  const rules = hashSql(await readFile(find(`${plugin}/complete_order.lua`), "utf8"));
  const names = `PGRST_DB_SCHEMAS=${served.map(({ schema }) => schema).join()}`;
  const wanted = {
    [settings]: (await readFile(find(settings), "utf8")).replace(/^PGRST_DB_SCHEMAS=.*$/m, names),
    [`${plugin}/served_tables.lua`]: writeTables(served, keys, called, rules),
  };
  const faults: string[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    if (write) await writeFile(find(name), text);
    if ((await readFile(find(name), "utf8")) !== text)
      faults.push(`${name} is out of date. To update it, add --write.`);
  }
  return faults;
}

function writeTables(served: Contract[], keys: Keys, called: Called, rules: string): string {
  const tables = served.filter(({ views }) => Object.keys(views).length > 0);
  const columnsOf = ({ views }: Contract) =>
    Object.fromEntries(
      Object.entries(views).map(([view, { columns }]) => [view, columns.map(({ name }) => name)]),
    );
  return `-- Written by \`npm run db:check -- --write\`: the tables of each API version.

return {
  -- The version that a client gets if it names none.
  default = "${served[0]?.schema}",
  -- The hash of complete_order.lua.
  rules = "${rules}",
  -- The columns that are unique together.
  keys = {
${tables.map(({ schema }) => writeLists(schema, keys[schema] ?? {})).join("\n")}
  },
  -- The columns that clients can name.
  columns = {
${tables.map((one) => writeLists(one.schema, columnsOf(one))).join("\n")}
  },
  -- Other words for columns, from the columns' descriptions.
  called = {
${tables.map(({ schema }) => writeCalled(schema, called[schema] ?? {})).join("\n")}
  },
}
`;
}

const writeCalled = (schema: string, views: Called[string]) =>
  [
    `    ${schema} = {`,
    ...Object.entries(views).map(([view, words]) => writeLists(view, words, "      ")),
    "    },",
  ].join("\n");

function writeLists(title: string, lists: Record<string, string[]>, indent = "    "): string {
  const lines = Object.entries(lists).map(
    ([name, names]) => `${indent}  ${name} = { ${names.map((each) => `"${each}"`).join(", ")} },`,
  );
  return `${indent}${title} = {\n${lines.join("\n")}\n${indent}},`;
}
