import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import { findFiles } from "../refresh/find-files.ts";
import { loadDataSet } from "../refresh/load-data-set.ts";
import { openStorage } from "../refresh/open-storage.ts";
import { warmTables } from "../refresh/warm-tables.ts";
import { settlePublicFiles, writePublicFiles } from "../refresh/write-public-files.ts";
import { writeReportPdfs } from "../sample/write-report-pdfs.ts";
import { generateSample } from "../sample/write-sample.ts";

export interface DataToPublish {
  /** Where the sample is generated. */
  directory: string;
  /** CSV files to publish in place of the sample. */
  dataDirectory: string | undefined;
  /** Where the reports' PDFs are kept. */
  reports: string;
  /** Where the bulk files are kept. */
  publicData: string;
  report: (line: string) => void;
}

/** Publishes the given files, or else, on a database that has none yet, a generated sample; with a PDF a report. */
export async function publishData(client: Client, options: DataToPublish): Promise<void> {
  const { rows } = await client.query("select from publication.data_sets where source <> 'empty' limit 1");
  if (options.dataDirectory === undefined && rows.length > 0) return;
  let source = options.dataDirectory;
  if (source === undefined) {
    source = path.join(options.directory, "sample");
    options.report("Generating the sample data ...");
    await rm(source, { recursive: true, force: true });
    await mkdir(source, { mode: 0o700 });
    await generateSample(client, { directory: source });
  }
  // The data comes last: a start that was interrupted before it is published does all of this again.
  options.report("Writing a PDF for each report ...");
  await writeReportPdfs(source, options.reports);
  options.report("Loading the data ...");
  await load(client, source, options);
}

async function load(client: Client, source: string, { publicData, report }: DataToPublish): Promise<void> {
  const store = await openStorage(publicData);
  await client.query("set role publisher");
  await loadDataSet(
    client,
    { source, files: await findFiles(source) },
    { report, writePublicFiles: (next) => writePublicFiles(next, store, "disclosed_next") },
  );
  await settlePublicFiles(client, store);
  await warmTables(client, report);
  await client.query("reset role");
}
