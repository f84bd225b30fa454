import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { hashSql } from "../sql/read-sql-file.ts";

/** The key and the columns of each table that a schema serves, by table. */
export interface ServedTables {
  schema: string;
  keys: Record<string, string[]>;
  columns: Record<string, string[]>;
}

/** Reads the served tables, in the order in which the schemas are served. */
export async function readServedTables(client: Client): Promise<ServedTables[]> {
  const { rows } = await client.query<ServedTables>(
    `select served_schemas.name as schema,
       coalesce(json_object_agg(view.relname, keys.columns order by view.relname)
         filter (where keys.columns is not null), '{}') as keys,
       json_object_agg(view.relname, array(
         select attname from pg_catalog.pg_attribute where attrelid = view.oid and attnum > 0 order by attnum
       ) order by view.relname) as columns
     from publication.served_schemas
     join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid and view.relkind = 'v'
     left join (
       select view_id, min(columns) as columns from publication.view_keys group by view_id
     ) as keys on keys.view_id = view.oid
     group by served_schemas.name, served_schemas.place
     order by served_schemas.place`,
  );
  return rows;
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
  schemas: string[],
  tables: ServedTables[],
  write: boolean,
): Promise<string[]> {
  const find = (name: string) => path.resolve(directory, "..", name);
  if (!existsSync(find(settings))) return [];
  const rules = hashSql(await readFile(find(`${plugin}/complete_order.lua`), "utf8"));
  const names = `PGRST_DB_SCHEMAS=${schemas.join()}`;
  const wanted = {
    [settings]: (await readFile(find(settings), "utf8")).replace(/^PGRST_DB_SCHEMAS=.*$/m, names),
    [`${plugin}/served_tables.lua`]: writeTables(tables, rules),
  };
  const faults: string[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    if (write) await writeFile(find(name), text);
    if ((await readFile(find(name), "utf8")) !== text)
      faults.push(`${name} is out of date. To update it, add --write.`);
  }
  return faults;
}

function writeTables(served: ServedTables[], rules: string): string {
  return `-- Written by \`npm run db:check -- --write\`: the tables of each API version.

return {
  -- The version that a client gets if it names none.
  default = "${served[0]?.schema}",
  -- The hash of complete_order.lua.
  rules = "${rules}",
  -- The columns that are unique together.
  keys = {
${served.map(({ schema, keys }) => writeLists(schema, keys)).join("\n")}
  },
  -- The columns that clients can name.
  columns = {
${served.map(({ schema, columns }) => writeLists(schema, columns)).join("\n")}
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
