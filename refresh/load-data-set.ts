import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { copyFile } from "./copy-file.ts";
import { type SourceFile, type Table, tables } from "./find-files.ts";
import { publishDataSet } from "./publish-data-set.ts";

const definitions = path.resolve(import.meta.dirname, "../db/data_set");

/** What to publish: the files, and what the history shall call them. */
export interface Source {
  source: string;
  files: SourceFile[];
}

/** Rows of a table by where they went. Rows of superseded submissions are in neither. */
export type RowCounts = Record<string, { disclosed: number; suppressed: number }>;

/**
 * Loads a data set beside the live one and publishes it. The live one stays as it is until the end, and if
 * anything fails. The client must be the publisher, or have switched to that role.
 *
 * @returns the rows of each table
 * @throws Error that names the file, line and value at fault, or what the database found wrong
 */
export async function loadDataSet(
  client: Client,
  { source, files }: Source,
  report: (line: string) => void = () => {},
): Promise<RowCounts> {
  const { rows } = await client.query("select pg_try_advisory_lock(hashtext('publication')) as locked");
  if (!rows[0].locked) throw new Error("Another data set is being loaded now. Try again when it is done.");
  try {
    const counts = await buildNextGeneration(client, files, report);
    await publishDataSet(client, source, counts);
    return counts;
  } finally {
    await client.query("select pg_advisory_unlock(hashtext('publication'))");
  }
}

async function buildNextGeneration(
  client: Client,
  files: SourceFile[],
  report: (line: string) => void,
): Promise<RowCounts> {
  await client.query("begin");
  try {
    await client.query("set local client_min_messages = warning");
    await client.query("drop schema if exists disclosed_next, suppressed_next cascade");
    await client.query(await readDefinition("staging.sql"));
    for (const file of files) {
      const copied = await copyFile(client, file);
      report(`${path.basename(file.path)}: ${copied} rows`);
    }
    if (files.length > 0) {
      for (const table of tables.filter((name) => !files.some((file) => file.table === name))) {
        report(`${table}: no file, so the table is empty`);
      }
    }
    await client.query(await readDefinition("build.sql"));
    const counts: RowCounts = {};
    for (const table of tables) counts[table] = await countRows(client, table);
    await client.query("commit");
    // Frozen and with statistics before the first reader comes.
    await client.query(
      `vacuum (freeze, analyze) ${tables.flatMap((table) => [`disclosed_next.${table}`, `suppressed_next.${table}`]).join(", ")}, disclosed_next.general_stubs`,
    );
    return counts;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

async function countRows(client: Client, table: Table): Promise<{ disclosed: number; suppressed: number }> {
  const { rows } = await client.query(
    `select (select count(*) from disclosed_next.${table})::integer as disclosed,
            (select count(*) from suppressed_next.${table})::integer as suppressed`,
  );
  return rows[0];
}

async function readDefinition(name: string): Promise<string> {
  return await readFile(path.join(definitions, name), "utf8");
}
