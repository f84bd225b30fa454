import { mkdir } from "node:fs/promises";
import { readSourceTables } from "../refresh/read-definition.ts";
import { inventRows } from "./invent-value.ts";
import { composeSubmissions } from "./submissions.ts";
import { openTable, type TableWriter } from "./table-writer.ts";

export const DEFAULT_SUBMISSIONS = 2_000;
export const DEFAULT_SEED = 1;

export type SampleOptions = {
  directory: string;
  /** Current submissions, public and suppressed. Those that they superseded come on top. */
  submissions?: number;
  seed?: number;
  onProgress?: (done: number, total: number) => void;
  /** Another directory than `db/data_set`, which says what tables and columns there are. */
  definitions?: string;
  /** Aborting leaves no file behind. */
  signal?: AbortSignal;
};

export type SampleSummary = { rows: Record<string, number> };

/**
 * Writes the source tables as `<directory>/<table>.csv`: invented submissions with the shapes of real ones. The
 * same arguments give the same bytes. Memory does not grow with the number of submissions. Files of an earlier
 * sample are replaced once all the new ones are complete.
 */
export async function writeSample(options: SampleOptions): Promise<SampleSummary> {
  const { directory, submissions = DEFAULT_SUBMISSIONS, seed = DEFAULT_SEED, onProgress, signal } = options;
  const columns = await readSourceTables(options.definitions);
  await mkdir(directory, { recursive: true });
  const writers = new Map<string, TableWriter>();
  try {
    for (const [table, listed] of columns)
      writers.set(table, await openTable(directory, table, listed, seed));
    for (let index = 0; index < submissions; index += 1) {
      signal?.throwIfAborted();
      for (const { key, tables } of composeSubmissions(seed, index)) {
        for (const [table, writer] of writers) {
          await writer.write(key, tables[table] ?? inventRows(seed, key, table));
        }
      }
      onProgress?.(index + 1, submissions);
    }
    for (const writer of writers.values()) await writer.close();
    signal?.throwIfAborted();
  } catch (error) {
    for (const writer of writers.values()) await writer.discard();
    throw error;
  }
  for (const writer of writers.values()) await writer.publish();
  const rows = [...writers].map(([table, writer]) => [table, writer.rows] as const);
  return { rows: Object.fromEntries(rows) };
}
