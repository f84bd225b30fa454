import { rm } from "node:fs/promises";
import { afterEach, beforeEach } from "vitest";
import { findFiles } from "../../scripts/refresh/find-files.ts";
import { loadDataSet } from "../../scripts/refresh/load-data-set.ts";
import * as sourceFiles from "../scripts/refresh/support/source-files.ts";
import { columnNames } from "../support/columns.ts";
import { type DeployedDatabase, useDeployedDatabase } from "../support/scratch-database.ts";

// What the tests of data sets share: a database for the file, and a directory of source files for each test.

export let database: DeployedDatabase;
export let directory: string;

export function useDataSets(): void {
  database = useDeployedDatabase();
  beforeEach(async () => {
    ({ directory } = await sourceFiles.makeDirectory());
  });
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
    await database.client.query("truncate publication.suppressed_reports");
  });
}

/** Writes a CSV file: a value as it stands there, null where a row has none. */
export async function writeCsv(
  table: string,
  rows: sourceFiles.Row[],
  columns = columnNames(table),
  name = `${table}.csv`,
): Promise<void> {
  await sourceFiles.writeCsv(directory, table, rows, { columns, name });
}

/** Publishes what is in the directory. */
export async function load() {
  const { client } = database;
  await client.query("set role publisher");
  try {
    return await loadDataSet(client, { source: directory, files: await findFiles(directory) });
  } finally {
    await client.query("reset role");
  }
}

export const select = async (sql: string) => (await database.client.query(sql)).rows;
