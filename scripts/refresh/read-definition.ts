import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { SourceFile } from "./find-files.ts";

const definitions = path.resolve(import.meta.dirname, "../../db/data_set");

/** Reads a file of `db/data_set`. */
export async function readDefinition(name: string): Promise<string> {
  return await readFile(path.join(definitions, name), "utf8");
}

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
