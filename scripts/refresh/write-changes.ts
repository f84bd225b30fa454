import { createWriteStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Client } from "pg";
import { hashFile } from "./hash-file.ts";
import type { ChangeFile } from "./public-manifest.ts";
import type { PublicStore } from "./public-store.ts";

interface RecordedChanges {
  number: string;
  from: string;
  to: string;
  published_at: Date;
  added: number;
  changed: number;
  removed: number;
}

/**
 * Writes a file for each publication that has none yet, and removes those of publications that are no longer kept.
 * A reader who has the data set `from` gets to the live one by all files from the last that begins there.
 *
 * @param written what the manifest lists so far
 */
export async function writeChanges(
  client: Client,
  store: PublicStore,
  written: ChangeFile[],
): Promise<ChangeFile[]> {
  const { rows } = await client.query<RecordedChanges>(
    `select number, from_data_set as from, to_data_set as to, published_at,
       cardinality(added) as added, cardinality(changed) as changed, cardinality(removed) as removed
     from publication.changes order by number`,
  );
  const files: ChangeFile[] = [];
  for (const recorded of rows) {
    const published_at = recorded.published_at.toISOString();
    // Numbers begin anew in a restored database.
    const known = written.find(
      (file) => file.name === nameFile(recorded) && file.published_at === published_at,
    );
    files.push(known ?? (await writeFile(client, store, recorded)));
  }
  const kept = rows.map(nameFolder);
  for (const folder of await store.listFolders()) {
    if (/^changes-\d+$/.test(folder) && !kept.includes(folder)) await store.removeFolder(folder);
  }
  return files;
}

const nameFolder = ({ number }: { number: string }) => `changes-${number}`;
const nameFile = (recorded: { number: string }) => `${nameFolder(recorded)}.csv.gz`;

async function writeFile(
  client: Client,
  store: PublicStore,
  { number, published_at, ...recorded }: RecordedChanges,
): Promise<ChangeFile> {
  const { rows } = await client.query<{ report_id: string; change: string }>(
    `select report_id, change
     from publication.changes,
       lateral (
         select unnest(added) as report_id, 'added' as change
         union all select unnest(changed), 'changed'
         union all select unnest(removed), 'removed'
       ) as listed
     where number = $1
     order by report_id`,
    [number],
  );
  const name = nameFile({ number });
  const directory = await store.makeWorkDirectory();
  try {
    const target = path.join(directory, name);
    const lines = ["report_id,change", ...rows.map(({ report_id, change }) => `${report_id},${change}`)];
    const text = lines.map((line) => `${line}\n`);
    await pipeline(Readable.from(text), createGzip(), createWriteStream(target));
    const about = { bytes: (await stat(target)).size, sha256: await hashFile(target) };
    await store.put(`${nameFolder({ number })}/${name}`, target, "application/gzip");
    return { name, ...recorded, published_at: published_at.toISOString(), ...about };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
