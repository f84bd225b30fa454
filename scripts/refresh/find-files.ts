import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { hashFile } from "./hash-file.ts";
import { readSourceTables } from "./read-definition.ts";
import type { StoredFile } from "./stored-file.ts";

/** A source file and the table it is for. */
export interface SourceFile extends StoredFile {
  table: string;
}

/**
 * Finds the CSV files of a directory, or of a bucket's prefix (`s3://bucket/prefix`): `<table>.csv`, or several
 * `*-<table>.csv`, which are read in name order; each may be gzipped (`.csv.gz`). The tables are those of
 * `staging.sql`, in its order.
 *
 * @param definitions another directory than `db/data_set`
 * @throws Error when there is no file for `general`, without which nothing can be published
 */
export async function findFiles(location: string, definitions?: string): Promise<SourceFile[]> {
  const tables = [...(await readSourceTables(definitions)).keys()];
  const stored = location.startsWith("s3://")
    ? // The AWS SDK is large: only who needs it waits for it.
      await (await import("./s3-files.ts")).listObjects(location)
    : await listDirectory(location);
  const files = tables.flatMap((table) => {
    const pattern = new RegExp(`^(.+-)?${table}\\.csv(\\.gz)?$`);
    return stored
      .filter((file) => pattern.test(path.posix.basename(file.path)))
      .map((file) => ({ ...file, table }));
  });
  if (!files.some(({ table }) => table === "general")) {
    throw new Error(`${location} has neither general.csv nor a *-general.csv (or .csv.gz).`);
  }
  return files;
}

async function listDirectory(directory: string): Promise<StoredFile[]> {
  const names = await readdir(directory).catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`${directory} cannot be read: ${cause.code}.`, { cause });
  });
  const files = names.sort().filter((name) => /\.csv(\.gz)?$/.test(name));
  return await Promise.all(
    files.map(async (name) => {
      const file = path.join(directory, name);
      const found = await stat(file);
      if (!found.isFile()) throw new Error(`${file} is not a file.`);
      return {
        path: file,
        size: found.size,
        open: async () => createReadStream(file, { highWaterMark: Math.min(1 << 18, found.size + 1) }),
        identify: () => hashFile(file),
        checkUnchanged: async () => {
          const { size, mtimeMs } = await stat(file);
          if (size === found.size && mtimeMs === found.mtimeMs) return;
          throw new Error(
            `${file} was written to while it was read: it had ${found.size} bytes and has ${size} now. Nothing was published. Wait until it is complete, then run this again.`,
          );
        },
      };
    }),
  );
}
