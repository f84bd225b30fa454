import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { runGuardedFiles } from "../sql/run-guarded-files.ts";
import type { SourceFile } from "./find-files.ts";

const definitions = path.resolve(import.meta.dirname, "../../db/data_set");

/** Reads a file of `db/data_set`. */
export async function readDefinition(name: string): Promise<string> {
  return await readFile(path.join(definitions, name), "utf8");
}

/**
 * Runs a file of `db/data_set` inside the caller's transaction.
 *
 * @throws SqlFileError that names file, line and column: of what PostgreSQL refused, or of a change outside of the
 * schemas of the data set
 */
export async function runDefinition(client: Client, name: string): Promise<void> {
  await runGuardedFiles(client, [
    { files: [{ name: `db/data_set/${name}`, sql: await readDefinition(name) }], scope: dataSet, rule },
  ]);
}

const dataSet = {
  schemas: "^(staging|dissemination|(disclosed|suppressed)(_next|_previous|_dropped)?)$",
  tables: true,
};
const rule =
  "Files of db/data_set change the schemas staging, disclosed, suppressed and dissemination, and nothing else.";

/**
 * The checksum of what a data set would be made of: the names and contents of the files, and the definitions by which
 * they become tables. The same checksum gives the same data set.
 */
export async function computeChecksum(files: SourceFile[]): Promise<string> {
  const hash = createHash("sha256");
  for (const name of ["staging.sql", "check.sql", "build.sql"]) hash.update(await readDefinition(name));
  for (const file of files) {
    hash.update(`\0${file.table}\0${path.posix.basename(file.path)}\0${await file.identify()}`);
  }
  return hash.digest("hex");
}
