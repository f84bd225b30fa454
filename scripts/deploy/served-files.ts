import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { hashSql } from "../sql/read-sql-file.ts";

/** The key of each table that a schema serves, by table. */
export interface ServedKeys {
  schema: string;
  keys: Record<string, string[]>;
}

/** Reads the keys of the served tables, in the order in which the schemas are served. */
export async function readServedKeys(client: Client): Promise<ServedKeys[]> {
  const { rows } = await client.query<ServedKeys>(
    `select served_schemas.name as schema, json_object_agg(view.relname, keys.columns order by view.relname) as keys
     from publication.served_schemas
     join pg_catalog.pg_class as view on view.relnamespace = served_schemas.oid
     join (
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
 * request.pre_config(), and their tables' keys, by which the gateway completes orders.
 *
 * @param directory a `db` directory; files that are not beside it are not compared
 * @param write whether to correct the files
 * @returns what differs
 */
export async function checkServedFiles(
  directory: string,
  schemas: string[],
  keys: ServedKeys[],
  write: boolean,
): Promise<string[]> {
  const find = (name: string) => path.resolve(directory, "..", name);
  if (!existsSync(find(settings))) return [];
  const rules = hashSql(await readFile(find(`${plugin}/complete_order.lua`), "utf8"));
  const names = `PGRST_DB_SCHEMAS=${schemas.join()}`;
  const wanted = {
    [settings]: (await readFile(find(settings), "utf8")).replace(/^PGRST_DB_SCHEMAS=.*$/m, names),
    [`${plugin}/table_keys.lua`]: writeTableKeys(keys, rules),
  };
  const faults: string[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    if (write) await writeFile(find(name), text);
    if ((await readFile(find(name), "utf8")) !== text)
      faults.push(`${name} is out of date. To update it, add --write.`);
  }
  return faults;
}

function writeTableKeys(served: ServedKeys[], rules: string): string {
  const schemas = served.map(({ schema, keys }) => {
    const lines = Object.entries(keys).map(
      ([table, columns]) => `    ${table} = { ${columns.map((column) => `"${column}"`).join(", ")} },`,
    );
    return `  ${schema} = {\n${lines.join("\n")}\n  },`;
  });
  return `-- Written by \`npm run db:check -- --write\`: the columns of each table that are unique together, by API version.

return {
  -- The version that a client gets if it names none.
  default = "${served[0]?.schema}",
  -- The hash of complete_order.lua.
  rules = "${rules}",
${schemas.join("\n")}
}
`;
}
