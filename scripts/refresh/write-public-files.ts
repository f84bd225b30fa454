import { rm } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import type { Objects } from "../../shared/objects/objects.ts";
import { parseJson } from "../../shared/parse-json.ts";
import type { TableFile } from "../../site/public-data/public-files.ts";
import { signalLoss } from "./connect-publisher.ts";
import type { CsvFile } from "./csv-writer.ts";
import { inTransaction } from "./in-transaction.ts";
import { lockPublication } from "./lock-publication.ts";
import { readDefinition } from "./read-definition.ts";
import { findPrevious } from "./suppression.ts";
import { type ChangeFile, writeChanges } from "./write-changes.ts";
import { describeFile, writeCsv } from "./write-csv.ts";
import { openParquetWriter } from "./write-parquet.ts";

type Schema = "disclosed" | "disclosed_next";

/** The tables that are also written as Parquet for each audit year. */
const yearlyParquetTables = ["general", "federal_awards"];

/** The content of `manifest.json`. */
interface Manifest {
  data_set: string;
  /** When the data set went live. Null until then. */
  published_at: string | null;
  /** Public rows of a table, or of one audit year of it. */
  files: TableFile[];
  /** Each table's name, descriptions and JSON Table Schema. */
  tables: object[];
  /** The last publications and rollbacks, the newest last. */
  changes: ChangeFile[];
}

/** What the files of one data set are written with. */
interface Writer {
  client: Client;
  store: Objects;
  schema: Schema;
  /** For unfinished files. */
  directory: string;
  parquet: Awaited<ReturnType<typeof openParquetWriter>>;
}

/**
 * Writes a data set's public rows to files: for each table, one CSV file, one Parquet file, and one CSV file per audit year (for
 * the large tables also Parquet). They have the rows that a public key gets from the API, in the same order. For suppressed submissions, general has
 * only `report_id` and `is_public`. If it fails, it ends the client's connection.
 *
 * @param schema `disclosed`, or `disclosed_next` before it is live
 */
export async function writePublicFiles(client: Client, store: Objects, schema: Schema): Promise<Manifest> {
  // What failed and killed runs left behind would take the place of the files.
  await removeUnpublished(client, store);
  const directory = await store.makeWorkDirectory();
  const parquet = await openParquetWriter(directory);
  const writer = { client, store, schema, directory, parquet };
  try {
    return await inTransaction(client, () => writeDataSet(writer));
  } finally {
    parquet.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function writeDataSet(writer: Writer): Promise<Manifest> {
  const { client, store, schema } = writer;
  // Keeps the order of the source files, whatever settings the files of db/data_set leave.
  await client.query(
    "set local datestyle = 'ISO, YMD'; set local synchronize_seqscans = off; set local max_parallel_workers_per_gather = 0; set local enable_indexscan = off",
  );
  const { rows } = await client.query<{ id: string }>(`select id from ${schema}.data_set`);
  const data_set = rows[0]?.id;
  if (data_set === undefined) throw new Error(`${schema}.data_set has no row. Run the refresh again.`);
  const describe = await readDefinition("describe_tables.sql");
  const { rows: tables } = await client.query<Table>(describe, [schema]);
  try {
    const files = await writeFiles(writer, data_set, await listFiles(writer, tables));
    const descriptions = tables.map(({ description }) => description);
    const manifest = { data_set, published_at: null, files, tables: descriptions, changes: [] };
    await putManifest(store, `${data_set}/manifest.json`, manifest);
    return manifest;
  } catch (error) {
    // On a full disk, the next run would fail for the lack of their space.
    await store.removeFolder(data_set).catch(() => {});
    throw error;
  }
}

/** Writes the files. While PostgreSQL sends a table, DuckDB converts the files of the previous one, which are then stored. */
async function writeFiles(writer: Writer, folder: string, tables: WantedTable[]): Promise<TableFile[]> {
  const { client, parquet } = writer;
  const stop = new AbortController();
  stop.signal.addEventListener("abort", parquet.interrupt);
  const lost = signalLoss(client);
  lost.addEventListener("abort", () => stop.abort(lost.reason));
  let finished: Promise<TableFile[]> = Promise.resolve([]);
  try {
    for (const { sql, files } of tables) {
      const written = await writeCsv(client, sql, files, stop.signal);
      finished = finished.then(async (stored) => {
        for (const file of written) stored.push(...(await finishFile(writer, folder, file)));
        return stored;
      });
      finished.catch((error) => stop.abort(error));
    }
    return await finished;
  } catch (error) {
    stop.abort(error);
    await finished.catch(() => {});
    throw error;
  } finally {
    // Later, DuckDB is closed.
    stop.signal.removeEventListener("abort", parquet.interrupt);
  }
}

/** Stores a CSV file and its Parquet file. */
async function finishFile(
  { store, parquet }: Writer,
  folder: string,
  csv: WantedFile & CsvFile,
): Promise<TableFile[]> {
  const { table, audit_year, rows, columns, hasParquet } = csv;
  const put = async (file: string, format: string, more = {}): Promise<TableFile> => {
    const described = { name: path.basename(file), table, audit_year, format, rows };
    const entry = { ...described, ...(await describeFile(file)), ...more };
    await store.putFile(`${folder}/${entry.name}`, file);
    return entry;
  };
  const target = csv.path.replace(/csv\.gz$/, "parquet");
  if (hasParquet) await parquet.convert(csv, columns, target);
  const stored = await put(csv.path, "csv", { text: csv.text });
  return hasParquet ? [stored, await put(target, "parquet")] : [stored];
}

/**
 * Makes the manifest name the live data set, and removes the files of data sets that no rollback can restore. Repairs what a
 * killed run left.
 *
 * @throws RefreshIsRunning
 */
export async function publishManifest(client: Client, store: Objects): Promise<void> {
  await lockPublication(client, async () => {
    const live = await readLive(client);
    if (live === undefined) return;
    const name = `${live.id}/manifest.json`;
    const text = await store.readText(name);
    // Without one, the data set was published without bulk files.
    const manifest: Manifest =
      text === undefined
        ? await writePublicFiles(client, store, "disclosed")
        : parseJson(`${name} of the bulk files`, text);
    const current = await store.readText("manifest.json");
    const written = current === undefined ? [] : JSON.parse(current).changes;
    const changes = await writeChanges(client, store, written);
    const published_at = live.published_at.toISOString();
    await putManifest(store, "manifest.json", { ...manifest, published_at, changes });
    const names = changes.map(({ name }) => name);
    await removeFolders(store, /^changes-\d+$/, (name) => !names.includes(`${name}.csv.gz`));
    await removeUnpublished(client, store);
  });
}

async function readLive(client: Client) {
  const { rows } = await client.query<{ id: string; published_at: Date }>(
    "select id, published_at from publication.data_sets where state = 'live'",
  );
  return rows[0];
}

/** Removes the files of data sets that are not live and that no rollback can restore. */
async function removeUnpublished(client: Client, store: Objects): Promise<void> {
  const live = await readLive(client);
  const previous = await findPrevious(client);
  const restorable = previous?.suppressed.length === 0 ? previous.id : undefined;
  await removeFolders(store, /^[0-9a-f-]{36}$/, (id) => id !== live?.id && id !== restorable);
}

async function removeFolders(store: Objects, pattern: RegExp, isOld: (name: string) => boolean) {
  for (const name of await store.listFolders())
    if (pattern.test(name) && isOld(name)) await store.removeFolder(name);
}

const putManifest = (store: Objects, key: string, manifest: Manifest) =>
  store.put(key, `${JSON.stringify(manifest, null, 2)}\n`);

/** A row of `describe_tables.sql`. */
interface Table {
  table: string;
  columns: { name: string; type: string }[];
  description: object;
}

type WantedTable = Awaited<ReturnType<typeof listFiles>>[number];
type WantedFile = WantedTable["files"][number];

async function listFiles({ client, schema, directory }: Writer, tables: Table[]) {
  const { rows: years } = await client.query<{ audit_year: string }>(
    `select distinct audit_year from ${schema}.general where audit_year ~ '^[0-9]{4}$' order by audit_year`,
  );
  return tables.map(({ table, columns }) => {
    const filled = `json_populate_record(null::${schema}.general, row_to_json(general_stubs)) as filled`;
    const stubs =
      table === "general" ? ` union all select filled.* from ${schema}.general_stubs, ${filled}` : "";
    const column = columns.findIndex(({ name }) => name === "audit_year");
    const describe = (name: string, audit_year: string | null, hasParquet: boolean) => {
      const only = audit_year === null ? undefined : { column, text: audit_year };
      return { path: path.join(directory, `${name}.csv.gz`), table, columns, audit_year, only, hasParquet };
    };
    const yearly = years.map(({ audit_year }) =>
      describe(`${table}-${audit_year}`, audit_year, yearlyParquetTables.includes(table)),
    );
    const files = [describe(table, null, true), ...(column < 0 ? [] : yearly)];
    return { sql: `table ${schema}.${table}${stubs}`, files };
  });
}
