import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const line = /^PGRST_DB_SCHEMAS=.*$/m;

/**
 * Compares the schemas in scripts/stack/postgrest.env, which PostgREST uses if it cannot read request.pre_config(), with
 * those that are served.
 *
 * @param directory a `db` directory; without a `scripts` directory beside it, there is nothing to compare
 * @param write whether to correct the file
 * @returns what differs
 */
export async function checkPostgrestSettings(
  directory: string,
  schemas: string[],
  write: boolean,
): Promise<string[]> {
  const file = path.resolve(directory, "../scripts/stack/postgrest.env");
  if (!existsSync(file)) return [];
  const text = await readFile(file, "utf8");
  const wanted = text.replace(line, `PGRST_DB_SCHEMAS=${schemas.join()}`);
  if (wanted === text) return [];
  if (write) {
    await writeFile(file, wanted);
    return [];
  }
  return [
    `scripts/stack/postgrest.env: it should have ${line.exec(wanted)?.[0]}. To update it, add --write.`,
  ];
}
