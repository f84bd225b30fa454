import type { Client } from "pg";
import { checkLeaks } from "../sql/check-leaks.ts";
import { checkGates, type GateOptions, type RowCounts } from "./check-gates.ts";
import { type FillOptions, fillStaging } from "./fill-staging.ts";
import type { SourceFile } from "./find-files.ts";
import { inTransaction } from "./in-transaction.ts";
import { dropSchemas } from "./publish-data-set.ts";
import { runDefinition } from "./read-definition.ts";
import type { Suppression } from "./suppression.ts";

export interface LoadOptions extends FillOptions, GateOptions {
  /** Builds and checks the data set, then rolls back. */
  dryRun?: boolean;
}

interface LoadedDataSet {
  counts: RowCounts;
  /** How many rows were left out. */
  rejected: number;
  suppression: Suppression;
}

/**
 * Builds a data set beside the live one. If anything fails, nothing has changed. The caller holds the publication lock.
 *
 * @throws SourceFaults, LeaksFound; Error if a file cannot be read
 */
export async function loadDataSet(
  client: Client,
  files: SourceFile[],
  options: LoadOptions,
): Promise<LoadedDataSet> {
  const { report = () => {}, dryRun } = options;
  // The settings of this file last as long as the connection.
  await inTransaction(client, () => runDefinition(client, "session.sql"));
  // Schemas that a killed run left behind.
  await dropSchemas(client, ["disclosed_next", "suppressed_next"]);
  // Rights and roles do not depend on the files, so what they reveal is refused before the files are read.
  await checkLeaks(client, "_next", false);
  const build = async () => {
    await runDefinition(client, "staging.sql");
    const filled = await fillStaging(client, files, options);
    report("Building tables and indexes ...");
    await client.query("set local client_min_messages = warning");
    await runDefinition(client, "build.sql");
    await runDefinition(client, "finding_summaries.sql");
    await client.query("select data_set.build_indexes('disclosed_next')");
    await runDefinition(client, "fingerprints.sql");
    await runDefinition(client, "totals.sql");
    const counts = await checkGates(client, options);
    await client.query("drop schema staging cascade");
    // Before the bulk files are written from the tables.
    await checkLeaks(client, "_next");
    return { counts, ...filled };
  };
  const loaded = await inTransaction(client, build, dryRun ? "rollback" : "commit");
  if (dryRun) return loaded;
  report("Vacuuming and analyzing the tables ...");
  const { rows } = await client.query<{ tables: string }>(nextTables);
  await client.query(`vacuum (freeze, analyze) ${rows[0]?.tables}`);
  return loaded;
}

const nextTables = `
  select string_agg(format('%I.%I', nspname, relname), ', ') as tables
  from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
  where nspname in ('disclosed_next', 'suppressed_next') and relkind = 'r'`;
