import path from "node:path";
import type { StorageOptions, StoredFile } from "../../shared/objects/objects.ts";
import { openObjects } from "../../shared/objects/open-objects.ts";

/** A source file and the table it is for. */
export interface SourceFile extends StoredFile {
  table: string;
}

/**
 * Finds the CSV files of a directory, or of s3://bucket/prefix: `<table>.csv`, or several `*-<table>.csv`, which are read in
 * name order. Each may be gzipped (`.csv.gz`).
 *
 * @param tables the tables whose files are wanted, in order; if absent, all files are
 * @throws Error if there is no file for `general`, without which nothing can be published
 */
export async function findFiles(
  location: string,
  options?: StorageOptions,
  tables?: string[],
): Promise<SourceFile[]> {
  const stored = await (await openObjects(location, options)).listFiles();
  const found = stored.flatMap((file): SourceFile[] => {
    const [, table] = /^(?:.+-)?(\w+)\.csv(?:\.gz)?$/.exec(path.posix.basename(file.path)) ?? [];
    return table === undefined ? [] : [{ ...file, table }];
  });
  const files = tables?.flatMap((table) => found.filter((file) => file.table === table)) ?? found;
  if (files.some(({ table }) => table === "general")) return files;
  throw new Error(`${location} has neither general.csv nor a *-general.csv (or .csv.gz).`);
}
