import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** One file of `db/migrations`. */
export interface Migration {
  /** Without `.sql`: as the database writes it down. */
  name: string;
  path: string;
  sql: string;
  sha256: string;
  /** Why it cannot run in a transaction, as its first line says. */
  noTransaction?: string;
}

/** Reads the migrations, in order. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".sql")).sort();
  return await Promise.all(
    files.map(async (file) => {
      const sql = await readFile(path.join(directory, file), "utf8");
      const noTransaction = /^-- No transaction: (\S.*)/.exec(sql)?.[1];
      return {
        name: path.basename(file, ".sql"),
        path: `migrations/${file}`,
        sql,
        sha256: createHash("sha256").update(sql).digest("hex"),
        ...(noTransaction === undefined ? {} : { noTransaction }),
      };
    }),
  );
}
