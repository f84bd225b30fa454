import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";

/** A part of an object that the project owns, as `db/deployment` reads it from a database's catalogue. */
export interface CataloguePart {
  /** What it is a part of, such as `table access.tiers`. */
  object: string;
  /** Empty for the object itself, else such as `column name` or `grant to api_public`. */
  part: string;
  /** `api`: rebuilt by each deployment of `db/api`. `data_set`: made by a publication. `durable`: made by migrations. */
  scope: "api" | "data_set" | "durable";
  definition: string;
  /** SQL that makes it so; null where no statement can. */
  repair: string | null;
  /** SQL that takes it away. */
  removal: string | null;
}

/** By which a part is known. */
export const keyOf = ({ object, part }: CataloguePart): string => `${object}\n${part}`;

/** The queries of `db/deployment` under a `db` directory. */
export async function readCatalogueQueries(directory: string): Promise<string[]> {
  const folder = path.join(directory, "deployment");
  const files = (await readdir(folder)).filter((file) => file.endsWith(".sql")).sort();
  return await Promise.all(files.map((file) => readFile(path.join(folder, file), "utf8")));
}

/** Reads everything that the project owns in a database, part by part, in order. */
export async function readCatalogue(client: Client, queries: string[]): Promise<CataloguePart[]> {
  // Names are qualified in definitions when the path is empty.
  const { rows: paths } = await client.query("select current_setting('search_path') as path");
  await client.query("select set_config('search_path', '', false)");
  try {
    const parts: CataloguePart[] = [];
    for (const query of queries) parts.push(...(await client.query<CataloguePart>(query)).rows);
    return parts.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  } finally {
    await client.query("select set_config('search_path', $1, false)", [paths[0].path]);
  }
}
