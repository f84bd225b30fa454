import type { Client } from "pg";
import { checkLeaks } from "../sql/check-leaks.ts";
import { checkGates, type GateOptions } from "./check-gates.ts";
import { countNextGeneration, type RowCounts } from "./count-rows.ts";
import { type FillOptions, fillStaging } from "./fill-staging.ts";
import type { SourceFile } from "./find-files.ts";
import { inTransaction } from "./in-transaction.ts";
import { lockPublication } from "./lock-publication.ts";
import { dropSchemas, publishNextGeneration } from "./publish-data-set.ts";
import { runDefinition } from "./read-definition.ts";
import { createStopwatch, type Stopwatch } from "./stopwatch.ts";
import type { Suppression } from "./suppression.ts";

/** The files to publish, and the name of their source in the history. */
export interface Source {
  source: string;
  files: SourceFile[];
}

export interface LoadOptions extends FillOptions, GateOptions {
  /** Identifies the source, so that later refreshes can skip it. */
  checksum?: string;
  /** Builds and checks the data set, then rolls back. */
  dryRun?: boolean;
  /** Writes the bulk files of the next generation before it goes live. */
  writePublicFiles?: () => Promise<unknown>;
}

/** The published data set, or after a dry run the one that would be published. */
export interface LoadedDataSet {
  /** Empty after a dry run. */
  id: string;
  counts: RowCounts;
}

/**
 * Builds a data set beside the live one and publishes it. If anything fails, the live one stays as it is. The client must have
 * the role publisher.
 *
 * @throws SourceFaults, LeaksFound, RefreshIsRunning; Error if a file cannot be read, or if a deployment has changed a table since
 */
export async function loadDataSet(
  client: Client,
  { source, files }: Source,
  options: LoadOptions = {},
): Promise<LoadedDataSet> {
  const { report = () => {} } = options;
  const startedAt = new Date();
  const stopwatch = createStopwatch();
  return await lockPublication(client, async () => {
    // The settings of this file last as long as the connection.
    await inTransaction(client, () => runDefinition(client, "session.sql"));
    const { counts, rejected, suppression } = await buildNextGeneration(client, files, options, stopwatch);
    if (options.dryRun) return { id: "", counts };
    report("Vacuuming and analyzing the tables ...");
    const { rows } = await client.query<{ tables: string }>(nextTables);
    await stopwatch.time("vacuum", client.query(`vacuum (freeze, analyze) ${rows[0]?.tables}`));
    if (options.writePublicFiles !== undefined) {
      report("Writing the bulk files ...");
      await stopwatch.time("bulk files", options.writePublicFiles());
    }
    report("Publishing ...");
    let id = "";
    const record = async () => {
      await client.query(replaceDataSets);
      const { rows } = await client.query(recordDataSet, [
        ...[source, JSON.stringify(counts), options.checksum, rejected, startedAt, suppression.kept],
        JSON.stringify(stopwatch.seconds),
      ]);
      id = rows[0].id;
      await client.query(rememberSuppressed, [suppression.suppressed]);
    };
    await publishNextGeneration(client, record, { report });
    return { id, counts };
  });
}

const rememberSuppressed =
  "insert into publication.suppressed_reports (report_id) select unnest($1::text[]) on conflict do nothing";

const replaceDataSets = `
  update publication.data_sets set state = case state when 'live' then 'previous' else 'dropped' end
  where state <> 'dropped'`;

const recordDataSet = `
  insert into publication.data_sets
    (id, source, row_counts, checksum, rejected_rows, started_at, kept_suppressed, durations, state)
  select id, $1, $2, $3, $4, $5, $6, $7, 'live' from disclosed.data_set
  returning id`;

const nextTables = `
  select string_agg(format('%I.%I', nspname, relname), ', ') as tables
  from pg_catalog.pg_class join pg_catalog.pg_namespace on pg_namespace.oid = relnamespace
  where nspname in ('disclosed_next', 'suppressed_next') and relkind = 'r'`;

async function buildNextGeneration(
  client: Client,
  files: SourceFile[],
  options: LoadOptions,
  stopwatch: Stopwatch,
): Promise<{ counts: RowCounts; rejected: number; suppression: Suppression }> {
  const { report = () => {} } = options;
  // Schemas that a killed run left behind.
  await dropSchemas(client, ["disclosed_next", "suppressed_next"]);
  // Rights and roles do not depend on the files, so what they reveal is refused before the files are read.
  await checkLeaks(client, "_next", false);
  const build = async () => {
    await runDefinition(client, "staging.sql");
    const filled = await fillStaging(client, files, options, stopwatch);
    report("Building tables and indexes ...");
    await client.query("set local client_min_messages = warning");
    await stopwatch.time("build", runDefinition(client, "build.sql"));
    await stopwatch.time("indexes", client.query("select data_set.build_indexes('disclosed_next')"));
    await stopwatch.time("fingerprints", runDefinition(client, "fingerprints.sql"));
    await stopwatch.time("totals", runDefinition(client, "totals.sql"));
    const counts = await countNextGeneration(client);
    await checkGates(client, counts, options);
    // Before the bulk files are written from the tables.
    await stopwatch.time("leak gate", checkLeaks(client, "_next"));
    return { counts, ...filled };
  };
  return await inTransaction(client, build, options.dryRun ? "rollback" : "commit");
}
