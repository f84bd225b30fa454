import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type Client, escapeLiteral } from "pg";
import { to as copyTo } from "pg-copy-streams";
import { parseJson } from "../../service/parse-json.ts";
import { listSourceTables } from "./count-rows.ts";
import { describeTables } from "./describe-tables.ts";
import { hashFile } from "./hash-file.ts";
import { lockPublication } from "./lock-publication.ts";
import { type ChangeFile, formatManifest, type Manifest, type PublicFile } from "./public-manifest.ts";
import type { PublicStore } from "./public-store.ts";
import { writeChanges } from "./write-changes.ts";
import { writeParquet } from "./write-parquet.ts";

// Half of level 6's time, for a twelfth more bytes.
const gzipLevel = 4;
const yearlyTables = ["general", "federal_awards"];

/**
 * Writes what the public may see of a data set to files, as CSV and as Parquet: one a table, and one a year for the
 * largest. They hold what a public key gets of the API, in the same order; of suppressed submissions `report_id` and
 * `is_public`, in general.
 *
 * @param schema `disclosed`, or `disclosed_next` before it is live
 */
export async function writePublicFiles(
  client: Client,
  store: PublicStore,
  schema: "disclosed" | "disclosed_next",
): Promise<Manifest> {
  const directory = await store.makeWorkDirectory();
  await client.query("begin");
  try {
    // In the order of the source files.
    await client.query("set local synchronize_seqscans = off; set local max_parallel_workers_per_gather = 0");
    const { rows } = await client.query<{ id: string }>(`select id from ${schema}.data_set`);
    const id = rows[0]?.id ?? "";
    const tables = await listSourceTables(client, schema === "disclosed" ? "suppressed" : "suppressed_next");
    const files: PublicFile[] = [];
    for (const { sql, ...wanted } of await listFiles(client, schema, tables)) {
      for (const { format, ending, contentType, write } of formats) {
        const name = `${wanted.name}.${ending}`;
        const target = path.join(directory, name);
        const rows = await write(client, sql, target);
        const [{ size: bytes }, sha256] = [await stat(target), await hashFile(target)];
        files.push({ ...wanted, name, format, rows, bytes, sha256 });
        await store.put(`${id}/${name}`, target, contentType);
      }
    }
    const manifest: Manifest = {
      data_set: id,
      published_at: null,
      files,
      tables: await describeTables(client, schema, tables),
      changes: [],
    };
    await store.putText(`${id}/manifest.json`, formatManifest(manifest));
    await client.query("commit");
    return manifest;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Makes the manifest name the data set that is live, and removes the files of those that no rollback can bring back.
 * Puts right what a run that was killed has left.
 */
export async function settlePublicFiles(client: Client, store: PublicStore): Promise<void> {
  const { rows } = await client.query<{ id: string; state: string; published_at: Date }>(
    "select id, state, published_at from publication.data_sets where state in ('live', 'previous')",
  );
  const live = rows.find(({ state }) => state === "live");
  if (live !== undefined) {
    const name = `${live.id}/manifest.json`;
    const text = await store.readText(name);
    const manifest: Manifest =
      text === undefined ? await writeLiveFiles(client, store) : parseJson(`${name} of the bulk files`, text);
    const published_at = live.published_at.toISOString();
    const current = await store.readText("manifest.json");
    const written: ChangeFile[] = current === undefined ? [] : (JSON.parse(current).changes ?? []);
    const changes = await writeChanges(client, store, written);
    await store.putText("manifest.json", formatManifest({ ...manifest, published_at, changes }));
  }
  const kept = rows.map(({ id }) => id);
  const newest = [...kept].sort().at(-1) ?? "";
  for (const id of await store.listFolders()) {
    // A newer one is being written now: the IDs are in the order of time.
    if (/^[0-9a-f-]{36}$/.test(id) && !kept.includes(id) && id < newest) await store.removeFolder(id);
  }
}

/** For a data set that was published without bulk files. Nothing may be published meanwhile. */
async function writeLiveFiles(client: Client, store: PublicStore): Promise<Manifest> {
  const unlock = await lockPublication(client);
  try {
    return await writePublicFiles(client, store, "disclosed");
  } finally {
    await unlock();
  }
}

interface WantedFile {
  name: string;
  table: string;
  audit_year: string | null;
  sql: string;
}

async function listFiles(
  client: Client,
  schema: "disclosed" | "disclosed_next",
  tables: string[],
): Promise<WantedFile[]> {
  const { rows } = await client.query<{ audit_year: string }>(
    `select distinct audit_year from ${schema}.general where audit_year ~ '^[0-9]{4}$' order by audit_year`,
  );
  return tables.flatMap((table) => {
    const stubs = table === "general" ? ` union all table ${schema}.general_stubs` : "";
    const whole = { name: table, table, audit_year: null, sql: `table ${schema}.${table}${stubs}` };
    const years = yearlyTables.includes(table) ? rows : [];
    const yearly = years.map(({ audit_year }) => ({
      name: `${table}-${audit_year}`,
      table,
      audit_year,
      sql: `select * from ${schema}.${table} where audit_year = ${escapeLiteral(audit_year)}`,
    }));
    return [whole, ...yearly];
  });
}

const formats = [
  { format: "csv", ending: "csv.gz", contentType: "application/gzip", write: writeCsv },
  {
    format: "parquet",
    ending: "parquet",
    contentType: "application/vnd.apache.parquet",
    write: writeParquet,
  },
] as const;

async function writeCsv(client: Client, sql: string, target: string): Promise<number> {
  const copy = client.query(copyTo(`copy (${sql}) to stdout (format csv, header)`));
  await pipeline(copy, createGzip({ level: gzipLevel, chunkSize: 1 << 16 }), createWriteStream(target));
  return copy.rowCount;
}
