import path from "node:path";
import type { CsvFile } from "./csv-writer.ts";

/** How DuckDB reads a column of a CSV file. Other types are text. */
const types: Record<string, string | undefined> = {
  bigint: "BIGINT",
  boolean: "BOOLEAN",
  date: "DATE",
  integer: "INTEGER",
};

const rowGroupBytes = 16 << 20;
// The size of DuckDB's vectors, which is also its default.
const [fewestRowsInGroup, mostRowsInGroup] = [2048, 122_880];
// The longest row that a source file may have, with all its quotes doubled.
const longestRowBytes = 17 << 20;

/** Starts DuckDB. */
export async function openParquetWriter(workDirectory: string) {
  // The library is large, so it is loaded only if it is needed.
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const database = await DuckDBInstance.create(":memory:", {
    threads: "1",
    memory_limit: "256MB",
    temp_directory: workDirectory,
    autoinstall_known_extensions: "false",
  });
  const connection = await database.connect();
  return {
    /**
     * Converts a gzipped CSV file of `COPY` to Parquet: the same rows in the same order, with the types of the database.
     *
     * @param columns names and types of PostgreSQL, in order
     * @throws Error if the number of rows differs
     */
    convert: async (csv: CsvFile, columns: { name: string; type: string }[], target: string) => {
      const list = columns.map(({ name, type }) => `${quote(name)}: ${quote(types[type] ?? "VARCHAR")}`);
      const sql = `copy (
        from read_csv(
          ${quote(csv.path)}, auto_detect = false, header = true, columns = {${list.join(", ")}}, delim = ',', quote = '"',
          escape = '"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, max_line_size = ${longestRowBytes},
          buffer_size = ${2 * longestRowBytes}
        )
      ) to ${quote(target)} (format parquet, compression zstd, row_group_size ${sizeRowGroup(csv)})`;
      const name = path.basename(target);
      const { rowsChanged } = await connection.run(sql).catch((cause: Error) => {
        throw new Error(`${target} cannot be written: ${cause.message}`, { cause });
      });
      if (rowsChanged !== csv.rows)
        throw new Error(`${name} has ${rowsChanged} rows, but its CSV file has ${csv.rows}.`);
    },
    /** Ends a conversion that is running, which then fails. */
    interrupt: () => connection.interrupt(),
    close: () => {
      connection.closeSync();
      database.closeSync();
    },
  };
}

/** DuckDB holds a row group in memory, uncompressed. */
function sizeRowGroup({ rows, text }: CsvFile): number {
  const fitting = Math.floor((rowGroupBytes * rows) / text.bytes);
  return Math.min(mostRowsInGroup, Math.max(fewestRowsInGroup, fitting));
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
