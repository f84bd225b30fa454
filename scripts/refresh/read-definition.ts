import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import type { StoredFile } from "./stored-file.ts";

/** The `db/data_set` of this repository. */
export const definitionsDirectory = path.resolve(import.meta.dirname, "../../db/data_set");

/** Reads a file of `db/data_set`, or of another directory like it. */
export async function readDefinition(name: string, directory = definitionsDirectory): Promise<string> {
  const file = path.join(directory, name);
  return await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`${file} cannot be read: ${cause.code}.`, { cause });
  });
}

/** A column of a source table, with its type as it is written down. */
export interface SourceColumn {
  name: string;
  type: string;
}

/**
 * The source tables and their columns, in order, as `staging.sql` makes them: what stands there before
 * `staging.source_tables`. For whoever has no database to ask.
 *
 * @throws Error when the file makes no table, or a line of one is no column
 */
export async function readSourceTables(
  directory = definitionsDirectory,
): Promise<Map<string, SourceColumn[]>> {
  const file = path.join(directory, "staging.sql");
  const [sql = ""] = (await readDefinition("staging.sql", directory))
    .replaceAll(/--.*$/gm, "")
    .split(/create\s+(?:unlogged\s+)?table\s+staging\.source_tables\b/i);
  const found = [...sql.matchAll(/create\s+(?:unlogged\s+)?table\s+staging\.(\w+)\s*\(([^;]*)\)\s*;/gi)];
  if (found.length === 0)
    throw new Error(`${file} makes no table staging.<name> before staging.source_tables.`);
  return new Map(found.map(([, table = "", body = ""]) => [table, readColumns(`${file}: ${table}`, body)]));
}

function readColumns(place: string, body: string): SourceColumn[] {
  // Not at the comma of numeric(12, 2).
  return body.split(/,(?![^()]*\))/).map((line) => {
    const [, name, type] = /^\s*(\w+)\s+(\w[\w ]*(?:\([\d, ]+\))?(?:\[\])?)\s*$/.exec(line) ?? [];
    if (name === undefined || type === undefined) {
      throw new Error(`${place}: a column is its name and its type, and nothing else: ${line.trim()}`);
    }
    return { name, type: type.trim() };
  });
}

/** Runs a file of `db/data_set`, as `runDefinitions()` does. */
export async function runDefinition(client: Client, name: string, directory?: string): Promise<void> {
  await runDefinitions(client, [name], directory);
}

/**
 * Runs files of `db/data_set` inside the caller's transaction, one after the other, with the rights of the publisher.
 *
 * @param time takes the time that a file runs
 * @throws SqlFileError that names file, line and column
 */
export async function runDefinitions(
  client: Client,
  names: string[],
  directory = definitionsDirectory,
  time: <Result>(name: string, work: Promise<Result>) => Promise<Result> = (_name, work) => work,
): Promise<void> {
  for (const name of names) {
    const sql = await readDefinition(name, directory);
    await time(name, runSqlFiles(client, [{ name: `db/data_set/${name}`, sql }]));
  }
}

/**
 * The checksum of what a data set would be made of: the names and contents of the files, and the definitions by which
 * they become tables. The same checksum gives the same data set.
 */
export async function computeChecksum(
  files: (StoredFile & { table: string })[],
  definitions?: string,
): Promise<string> {
  const hash = createHash("sha256");
  for (const name of ["staging", "check", "build", "indexes", "fingerprints", "totals"]) {
    hash.update(await readDefinition(`${name}.sql`, definitions));
  }
  for (const file of files) {
    hash.update(`\0${file.table}\0${path.posix.basename(file.path)}\0${await file.identify()}`);
  }
  return hash.digest("hex");
}
