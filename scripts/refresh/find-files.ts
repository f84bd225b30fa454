import path from "node:path";
import type { StorageOptions, StoredFile } from "../../shared/objects.ts";
import { openObjects } from "../../shared/open-objects.ts";
import { readSourceTables } from "./read-definition.ts";

/** A source file and the table it is for. */
export interface SourceFile extends StoredFile {
  table: string;
}

/**
 * Finds the CSV files of a directory, or of s3://bucket/prefix: `<table>.csv`, or several `*-<table>.csv`, which are read in
 * name order. Each may be gzipped (`.csv.gz`). The tables are those of `staging.sql`, in its order.
 *
 * @throws Error if there is no file for `general`, without which nothing can be published
 */
export async function findFiles(location: string, options?: StorageOptions): Promise<SourceFile[]> {
  const stored = await (await openObjects(location, options)).listFiles();
  const files = (await readSourceTables()).flatMap((table) => {
    const pattern = new RegExp(`^(.+-)?${table}\\.csv(\\.gz)?$`);
    const own = stored.filter((file) => pattern.test(path.posix.basename(file.path)));
    return own.map((file) => ({ ...file, table }));
  });
  if (files.some(({ table }) => table === "general")) return files;
  throw new Error(`${location} has neither general.csv nor a *-general.csv (or .csv.gz).`);
}
