import { createHash } from "node:crypto";
import path from "node:path";
import type { Client } from "pg";
import type { StoredFile } from "../../shared/objects/objects.ts";
import { readSqlFile } from "../sql/read-sql-file.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";

/** The `db/data_set` of this repository. */
export let definitionsDirectory = path.resolve(import.meta.dirname, "../../db/data_set");

/** For tests: from now on, uses a changed copy of `db/data_set`. */
export function useDefinitions(directory: string): void {
  definitionsDirectory = directory;
}

/** Reads a file of `db/data_set`. */
export async function readDefinition(name: string): Promise<string> {
  return await readSqlFile(path.join(definitionsDirectory, name));
}

/** The names of the source tables, in the order in which they were added. */
export async function readSourceTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select name from data_set.tables where is_source order by place",
  );
  return rows.map(({ name }) => name);
}

/**
 * Runs a file of `db/data_set` inside the caller's transaction, with the rights of the publisher.
 *
 * @throws SqlFileError that names file, line and column
 */
export async function runDefinition(client: Client, name: string): Promise<void> {
  await runSqlFiles(client, [{ name: `db/data_set/${name}`, sql: await readDefinition(name) }]);
}

/**
 * The checksum of everything that determines a data set: the names and contents of the files, and the SQL that turns them
 * into tables. The same checksum gives the same data set.
 */
export async function computeChecksum(files: (StoredFile & { table: string })[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of ["staging", "reject_rows", "build", "fingerprints", "totals", "finding_summaries"])
    hash.update(await readDefinition(`${name}.sql`));
  for (const file of files) {
    hash.update(`\0${file.table}\0${path.posix.basename(file.path)}\0${await file.identify()}`);
  }
  return hash.digest("hex");
}
