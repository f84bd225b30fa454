import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** Reads a file of `db`, with the line endings that every checkout has in common. */
export async function readSqlFile(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
}

/** The hash by which a database remembers a file. */
export function hashSql(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}
