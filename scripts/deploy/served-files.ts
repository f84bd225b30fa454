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

const plugin = "gateway/plugins/single-audit";
const settings = "scripts/stack/postgrest.env";

/**
 * Compares what files outside `db` repeat of the served schemas: their names, which PostgREST uses if it cannot read
 * request.pre_config(), and their tables' keys and columns, by which the gateway completes orders and explains errors.
 *
 * @param directory a `db` directory; files that are not beside it are not compared
 * @param write whether to correct the files
 * @returns what differs
 */
export async function checkServedFiles(
  directory: string,
  served: Contract[],
  keys: Keys,
  write: boolean,
): Promise<string[]> {
  const find = (name: string) => path.resolve(directory, "..", name);
  if (!existsSync(find(settings))) return [];
  const rules = hashSql(await readFile(find(`${plugin}/complete_order.lua`), "utf8"));
  const names = `PGRST_DB_SCHEMAS=${served.map(({ schema }) => schema).join()}`;
  const wanted = {
    [settings]: (await readFile(find(settings), "utf8")).replace(/^PGRST_DB_SCHEMAS=.*$/m, names),
    [`${plugin}/served_tables.lua`]: writeTables(served, keys, rules),
  };
  const faults: string[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    if (write) await writeFile(find(name), text);
    if ((await readFile(find(name), "utf8")) !== text)
      faults.push(`${name} is out of date. To update it, add --write.`);
  }
  return faults;
}

function writeTables(served: Contract[], keys: Keys, rules: string): string {
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
}
`;
}

function writeLists(schema: string, lists: Record<string, string[]>): string {
  const lines = Object.entries(lists).map(
    ([table, names]) => `      ${table} = { ${names.map((name) => `"${name}"`).join(", ")} },`,
  );
  return `    ${schema} = {\n${lines.join("\n")}\n    },`;
}
