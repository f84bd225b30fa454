import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "csv-parse/sync";
import { writeSample } from "../../../scripts/sample/index.ts";
import { type Table, tables } from "../../support/columns.ts";

export type FileRow = Readonly<Record<string, string>>;

/** All rows of all tables, null and "" both as "". */
export type Sample = Readonly<Record<Table, FileRow[]>>;

/** Calls with a new directory, which is gone afterwards. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), "sample-"));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Generates a sample and reads its files. */
export function generate(options: { submissions?: number; seed?: number } = {}): Promise<Sample> {
  return withDirectory(async (directory) => {
    await writeSample({ directory, ...options });
    const entries = tables.map(async (table) => {
      const text = await readFile(path.join(directory, `${table}.csv`));
      return [table, parse(text, { columns: true }) as FileRow[]] as const;
    });
    return Object.fromEntries(await Promise.all(entries)) as Sample;
  });
}

/** A hash over the bytes of all files. */
export async function hashFiles(directory: string): Promise<string> {
  const hash = createHash("sha256");
  for (const table of tables) hash.update(await readFile(path.join(directory, `${table}.csv`)));
  return hash.digest("hex");
}
