import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** One file of `db/api`, its path relative to that directory. */
export interface ApiFile {
  path: string;
  sql: string;
}

/** All of `db/api` in the order it is applied in, and the hash that identifies its content. */
export interface ApiFiles {
  files: ApiFile[];
  sha256: string;
}

/**
 * Reads the SQL files of `db/api`: `request` first, then a folder a schema by name. In a folder `schema.sql`
 * comes first, then `general.sql`, then the others by name. A relationship names two views, so it stands in the file
 * of the later one; each table has one with `general`.
 */
export async function readApiFiles(directory: string): Promise<ApiFiles> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".sql"))
    .map((entry) => path.relative(directory, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort((a, b) => compare(orderOf(a), orderOf(b)));
  const files = await Promise.all(
    paths.map(async (file) => ({ path: file, sql: await readFile(path.join(directory, file), "utf8") })),
  );
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file.path}\0${file.sql}\0`);
  return { files, sha256: hash.digest("hex") };
}

function orderOf(file: string): string[] {
  const { dir, name } = path.parse(file);
  const rank = name === "schema" ? "0" : name === "general" ? "1" : "2";
  return [dir === "request" ? "0" : "1", dir, rank, name];
}

function compare(a: string[], b: string[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? "";
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
