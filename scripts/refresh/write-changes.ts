import { rm } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";
import type { ChangeFile } from "./public-manifest.ts";
import type { Storage } from "./storage.ts";
import { describeFile, writeCsv } from "./write-csv.ts";

interface RecordedChanges {
  number: string;
  from: string;
  to: string;
  published_at: Date;
  added: number;
  changed: number;
  removed: number;
}

const nameFolder = ({ number }: { number: string }) => `changes-${number}`;

/**
 * Writes a file for each publication that has none yet, and removes the files of publications that are no longer recorded. To
 * get from the data set `from` to the live one, a reader applies all files since the last one that begins there.
 *
 * @param written the files that the manifest lists so far
 */
export async function writeChanges(
  client: Client,
  store: Storage,
  written: ChangeFile[],
): Promise<ChangeFile[]> {
  const { rows } = await client.query<RecordedChanges>(
    `select number, from_data_set as from, to_data_set as to, published_at,
       cardinality(added) as added, cardinality(changed) as changed, cardinality(removed) as removed
     from publication.changes order by number`,
  );
  const files: ChangeFile[] = [];
  for (const { number, ...recorded } of rows) {
    const name = `${nameFolder({ number })}.csv.gz`;
    const entry = { name, ...recorded, published_at: recorded.published_at.toISOString() };
    // In a restored database, numbers begin anew.
    const known = written.find((file) => file.name === name && file.published_at === entry.published_at);
    files.push(known ?? { ...entry, ...(await writeFile(client, store, number, name)) });
  }
  const kept = rows.map(nameFolder);
  for (const folder of await store.listFolders())
    if (/^changes-\d+$/.test(folder) && !kept.includes(folder)) await store.removeFolder(folder);
  return files;
}

async function writeFile(client: Client, store: Storage, number: string, name: string) {
  const directory = await store.makeWorkDirectory();
  try {
    const target = path.join(directory, name);
    const sql = `
      select report_id, change
      from publication.changes, lateral (
        select unnest(added) as report_id, 'added' as change
        union all select unnest(changed), 'changed'
        union all select unnest(removed), 'removed'
      ) as listed
      where number = ${Number(number)}
      order by report_id`;
    await writeCsv(client, sql, target);
    const about = await describeFile(target);
    await store.put(`${nameFolder({ number })}/${name}`, target, "application/gzip");
    return about;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
