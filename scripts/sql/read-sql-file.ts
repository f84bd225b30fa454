import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";

/** Reads a file of `db`, with the line endings that every checkout has in common. */
export async function readSqlFile(file: string): Promise<string> {
  return (await readFile(file, "utf8")).replaceAll("\r\n", "\n");
}

/** The repository's `db/deployment`. */
const deploymentDirectory = path.resolve(import.meta.dirname, "../../db/deployment");

/** Reads a file of `db/deployment`. */
export const readDeploymentFile = (name: string): Promise<string> =>
  readSqlFile(path.join(deploymentDirectory, name));

/** The hash by which a database remembers a file. */
export function hashSql(sql: string): string {
  return createHash("sha256").update(sql).digest("hex");
}
