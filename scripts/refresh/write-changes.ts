import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { Client } from "pg";
import type { Objects } from "../../shared/objects/objects.ts";

/** A file that lists the reports that differ between a data set and the one that replaced it. */
export interface ChangeFile {
  name: string;
  from: string;
  to: string;
  published_at: string;
  added: number;
  changed: number;
  removed: number;
  bytes: number;
  sha256: string;
}

/** The recorded publications, in the manifest's format. */
const recordedChanges = `
  select format('changes-%s.csv.gz', number) as name, from_data_set as from, to_data_set as to, published_at,
    cardinality(added) as added, cardinality(changed) as changed, cardinality(removed) as removed
  from publication.changes order by number`;

/** The content of a publication's file. Report IDs need no quotes. */
const changedReports = `
  select E'report_id,change\\n' || coalesce(string_agg(report_id || ',' || change || E'\\n', '' order by report_id), '') as csv
  from publication.changes, lateral (
    select unnest(added) as report_id, 'added' as change
    union all select unnest(changed), 'changed'
    union all select unnest(removed), 'removed'
  ) as listed
  where format('changes-%s.csv.gz', number) = $1`;

/**
 * Writes a file for each publication that has none yet. To update a copy of data set X, a client applies the last file whose
 * `from` is X, and all later ones.
 *
 * @param written the files that the manifest already lists
 */
export async function writeChanges(
  client: Client,
  store: Objects,
  written: ChangeFile[],
): Promise<ChangeFile[]> {
  const { rows } = await client.query(recordedChanges);
  const files: ChangeFile[] = [];
  for (const row of rows) {
    const entry = { ...row, published_at: row.published_at.toISOString() };
    // In a restored database, numbers start again at 1.
    const known = written.find(
      ({ name, published_at }) => name === entry.name && published_at === entry.published_at,
    );
    files.push(known ?? { ...entry, ...(await writeFile(client, store, entry.name)) });
  }
  return files;
}

async function writeFile(client: Client, store: Objects, name: string) {
  const { rows } = await client.query<{ csv: string }>(changedReports, [name]);
  const file = gzipSync(rows[0]?.csv ?? "");
  await store.put(`${name.replace(".csv.gz", "")}/${name}`, file);
  return { bytes: file.length, sha256: createHash("sha256").update(file).digest("hex") };
}
