import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Migration } from "./read-files.ts";

/** The checksums of the migrations of the last release, as `sha256sum` writes them, in a `db` directory. */
export const releasedFile = "released.sha256";

export async function writeReleased(directory: string, migrations: Migration[]): Promise<void> {
  const lines = migrations.map(({ id, sha256 }) => `${sha256}  ${id}.sql\n`);
  await writeFile(path.join(directory, releasedFile), lines.join(""));
}

/**
 * Finds released migrations that were edited, renamed or removed. Databases that ran them would refuse the deployment.
 *
 * @returns a line for each
 */
export async function findEditedMigrations(directory: string, migrations: Migration[]): Promise<string[]> {
  const lines = (await readFile(path.join(directory, releasedFile), "utf8")).trim().split("\n");
  return lines.flatMap((line) => {
    const [sha256, name = ""] = line.split("  ");
    const found = migrations.find(({ id }) => `${id}.sql` === name);
    if (found?.sha256 === sha256) return [];
    const problem = found === undefined ? "is missing" : "was edited";
    return [`db/migrations/${name} is released, but ${problem}. Restore it, and write another migration.`];
  });
}
