import { rm } from "node:fs/promises";
import path from "node:path";
import { type Client, escapeLiteral } from "pg";
import { parseJson } from "../../service/parse-json.ts";
import { inTransaction } from "./in-transaction.ts";
import { lockPublication } from "./lock-publication.ts";
import { readDefinition } from "./read-definition.ts";
import type { Storage } from "./storage.ts";
import { type ChangeFile, writeChanges } from "./write-changes.ts";
import { describeFile, writeCsv } from "./write-csv.ts";
import { openParquetWriter } from "./write-parquet.ts";

type Schema = "disclosed" | "disclosed_next";

/** The tables that are also written as Parquet for each audit year. */
const yearlyParquetTables = ["general", "federal_awards"];
const contentTypes = { "csv.gz": "application/gzip", parquet: "application/vnd.apache.parquet" };

/** The content of `manifest.json`. */
interface Manifest {
  data_set: string;
  /** When the data set went live. Null until then. */
  published_at: string | null;
  /** Public rows of a table, or of one audit year of it. */
  files: {
    name: string;
    table: string;
    audit_year: string | null;
    format: "csv" | "parquet";
    rows: number;
    bytes: number;
    sha256: string;
  }[];
  /** Each table's name, descriptions and JSON Table Schema. */
  tables: object[];
  /** The last publications and rollbacks, the newest last. */
  changes: ChangeFile[];
}

/**
 * Writes a data set's public rows to files: for each table, one CSV file, one Parquet file, and one CSV file per audit year (for
 * the large tables also Parquet). They have the rows that a public key gets from the API, in the same order. For suppressed submissions, general has
 * only `report_id` and `is_public`.
 *
 * @param schema `disclosed`, or `disclosed_next` before it is live
 */
export async function writePublicFiles(client: Client, store: Storage, schema: Schema): Promise<Manifest> {
  const directory = await store.makeWorkDirectory();
  const parquet = await openParquetWriter(directory);
  const write = async () => {
    // Keeps the order of the source files, whatever settings the files of db/data_set leave.
    await client.query(
      "set local datestyle = 'ISO, YMD'; set local synchronize_seqscans = off; set local max_parallel_workers_per_gather = 0; set local enable_indexscan = off",
    );
    const { rows } = await client.query<{ id: string }>(`select id from ${schema}.data_set`);
    const data_set = rows[0]?.id ?? "";
    const { rows: described } = await client.query<Table>(await readDefinition("describe_tables.sql"), [
      schema,
    ]);
    const tables = described.map(({ description }) => description);
    const manifest: Manifest = { data_set, published_at: null, files: [], tables, changes: [] };
    const finish = async (file: WantedFile, ending: keyof typeof contentTypes, rows: number) => {
      const { table, audit_year } = file;
      const name = `${file.name}.${ending}`;
      const target = path.join(directory, name);
      const format = ending === "parquet" ? "parquet" : "csv";
      manifest.files.push({ name, table, audit_year, format, rows, ...(await describeFile(target)) });
      await store.putFile(`${data_set}/${name}`, target, contentTypes[ending]);
    };
    // While PostgreSQL writes a CSV file, DuckDB converts the previous one.
    let converted = Promise.resolve();
    for (const file of await listFiles(client, schema, described)) {
      const csv = await writeCsv(client, file.sql, path.join(directory, `${file.name}.csv.gz`));
      converted = converted.then(async () => {
        if (file.hasParquet)
          await parquet.convert(csv, file.columns, path.join(directory, `${file.name}.parquet`));
        await finish(file, "csv.gz", csv.rows);
        if (file.hasParquet) await finish(file, "parquet", csv.rows);
      });
      // Awaited below.
      converted.catch(() => {});
    }
    await converted;
    await putManifest(store, `${data_set}/manifest.json`, manifest);
    return manifest;
  };
  try {
    return await inTransaction(client, write);
  } finally {
    parquet.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Makes the manifest name the live data set, and removes the files of data sets that no rollback can restore. Repairs what a
 * killed run left.
 */
export async function publishManifest(client: Client, store: Storage): Promise<void> {
  const { rows } = await client.query<{ id: string; state: string; published_at: Date }>(
    "select id, state, published_at from publication.data_sets where state in ('live', 'previous')",
  );
  const live = rows.find(({ state }) => state === "live");
  if (live !== undefined) {
    const name = `${live.id}/manifest.json`;
    const text = await store.readText(name);
    const manifest: Manifest =
      text === undefined
        ? // The data set was published without bulk files.
          await lockPublication(client, () => writePublicFiles(client, store, "disclosed"))
        : parseJson(`${name} of the bulk files`, text);
    const published_at = live.published_at.toISOString();
    const current = await store.readText("manifest.json");
    const written = current === undefined ? [] : (JSON.parse(current).changes ?? []);
    const changes = await writeChanges(client, store, written);
    await putManifest(store, "manifest.json", { ...manifest, published_at, changes });
    await removeFolders(store, /^changes-\d+$/, (name) =>
      changes.every((file) => file.name !== `${name}.csv.gz`),
    );
  }
  const kept = rows.map(({ id }) => id);
  // IDs sort by time. A newer data set is being written now.
  const newest = [...kept].sort().at(-1) ?? "";
  await removeFolders(store, /^[0-9a-f-]{36}$/, (id) => !kept.includes(id) && id < newest);
}

async function removeFolders(store: Storage, pattern: RegExp, isOld: (name: string) => boolean) {
  for (const name of await store.listFolders())
    if (pattern.test(name) && isOld(name)) await store.removeFolder(name);
}

const putManifest = (store: Storage, key: string, manifest: Manifest) =>
  store.put(key, `${JSON.stringify(manifest, null, 2)}\n`, "application/json");

/** A row of `describe_tables.sql`. */
interface Table {
  table: string;
  columns: { name: string; type: string }[];
  description: object;
}

type WantedFile = Awaited<ReturnType<typeof listFiles>>[number];

async function listFiles(client: Client, schema: Schema, tables: Table[]) {
  const { rows: years } = await client.query<{ audit_year: string }>(
    `select distinct audit_year from ${schema}.general where audit_year ~ '^[0-9]{4}$' order by audit_year`,
  );
  return tables.flatMap(({ table, columns }) => {
    const stubs = table === "general" ? ` union all table ${schema}.general_stubs` : "";
    const sql = `table ${schema}.${table}${stubs}`;
    const whole = { name: table, table, columns, audit_year: null, sql, hasParquet: true };
    if (!columns.some(({ name }) => name === "audit_year")) return [whole];
    const yearly = years.map(({ audit_year }) => ({
      ...whole,
      name: `${table}-${audit_year}`,
      audit_year,
      sql: `select * from ${schema}.${table} where audit_year = ${escapeLiteral(audit_year)}`,
      hasParquet: yearlyParquetTables.includes(table),
    }));
    return [whole, ...yearly];
  });
}
