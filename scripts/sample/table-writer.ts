import { type FileHandle, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { stringify } from "csv-stringify/sync";
import type { SourceColumn } from "../refresh/read-definition.ts";
import { createReaders } from "./invent-value.ts";
import type { Key, Row, Value } from "./model.ts";

/** Writes one table's CSV file. Until `finish`, it is `<table>.csv.part`. */
export type TableWriter = {
  /** Adds rows that begin with the key. Resolves once they may be forgotten. */
  write(key: Key, rows: readonly Row[]): Promise<void>;
  /** Flushes and closes the file, still under its temporary name. */
  close(): Promise<void>;
  publish(): Promise<void>;
  discard(): Promise<void>;
  readonly rows: number;
};

const BATCH_ROWS = 500;

// Null is empty, the empty string "", booleans t and f: what COPY … CSV writes and reads.
const FORMAT = { quoted_match: /^$/, cast: { boolean: (value: boolean) => (value ? "t" : "f") } };

/** Begins `<directory>/<table>.csv` with its header. What a row lacks is invented, by the column's type. */
export async function openTable(
  directory: string,
  table: string,
  columns: readonly SourceColumn[],
  seed: number,
): Promise<TableWriter> {
  const target = path.join(directory, `${table}.csv`);
  const temporary = `${target}.part`;
  const file: FileHandle = await open(temporary, "w");
  let batch: Value[][] = [columns.map(({ name }) => name)];
  let rows = 0;
  const readers = createReaders(seed, table, columns);

  const flush = async () => {
    const text = stringify(batch, FORMAT);
    batch = [];
    await file.writeFile(text);
  };
  const close = async () => {
    if (batch.length > 0) await flush();
    await file.close();
  };
  return {
    get rows() {
      return rows;
    },
    async write(key, added) {
      for (const [place, row] of added.entries()) {
        batch.push(readers.map((readValue) => readValue(key, row, place)));
      }
      rows += added.length;
      if (batch.length >= BATCH_ROWS) await flush();
    },
    close,
    publish: () => rename(temporary, target),
    async discard() {
      await file.close().catch(() => {});
      await rm(temporary, { force: true });
    },
  };
}
