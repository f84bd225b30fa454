import { rm } from "node:fs/promises";
import path from "node:path";
import { type Client, escapeLiteral } from "pg";
import type { ChangeFile } from "./public-manifest.ts";
import type { Storage } from "./storage.ts";
import { describeFile, writeCsv } from "./write-csv.ts";

/** What is recorded of a publication, as the manifest has it. */
const recordedChanges = `
  select format('changes-%s.csv.gz', number) as name, from_data_set as from, to_data_set as to, published_at,
    cardinality(added) as added, cardinality(changed) as changed, cardinality(removed) as removed
  from publication.changes order by number`;

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
  const { rows } = await client.query<Omit<ChangeFile, "published_at"> & { published_at: Date }>(
    recordedChanges,
  );
  const files: ChangeFile[] = [];
  for (const row of rows) {
    const entry = { ...row, published_at: row.published_at.toISOString() };
    // In a restored database, numbers begin anew.
    const known = written.find(
      ({ name, published_at }) => name === entry.name && published_at === entry.published_at,
    );
    files.push(known ?? { ...entry, ...(await writeFile(client, store, entry.name)) });
  }
  const kept = files.map(({ name }) => path.basename(name, ".csv.gz"));
  for (const folder of await store.listFolders())
    if (/^changes-\d+$/.test(folder) && !kept.includes(folder)) await store.removeFolder(folder);
  return files;
}

async function writeFile(client: Client, store: Storage, name: string) {
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
      where format('changes-%s.csv.gz', number) = ${escapeLiteral(name)}
      order by report_id`;
    await writeCsv(client, sql, target);
    const about = await describeFile(target);
    await store.put(`${path.basename(name, ".csv.gz")}/${name}`, target, "application/gzip");
    return about;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
