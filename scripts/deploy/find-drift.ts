import type { Client } from "pg";
import { compareParts, type PartChange } from "./compare-catalogues.ts";
import { type CataloguePart, keyOf, readCatalogue } from "./read-catalogue.ts";

/** What has changed in a database since the last deployment or publication wrote it down, other than by these. */
export interface Drift {
  /** Parts of the API: the deployment rebuilds it. */
  api: PartChange[];
  /** Parts that a statement makes again as they were, or takes away. */
  repairable: PartChange[];
  /** What is gone with the data in it, and what no statement can change back. */
  lost: PartChange[];
  /** What somebody has put beside it: it is named, and left alone. */
  foreign: PartChange[];
}

interface Recorded {
  queries: string[];
  parts: CataloguePart[];
}

/** Parts that change what an object of the project does, whoever made them. */
const behaviour =
  /^(grant|policy|trigger|rule|constraint|child|option|comment|setting|may become|row level security)\b/;

/** Compares a database with what was written down of it. Nothing is found where nothing was written down. */
export async function findDrift(client: Client): Promise<Drift> {
  const drift: Drift = { api: [], repairable: [], lost: [], foreign: [] };
  // Most often all were written down with the same queries, of which each takes its time.
  const read = new Map<string, CataloguePart[]>();
  for (const { queries, parts } of await readRecords(client)) {
    const key = queries.join();
    const all = read.get(key) ?? (await readCatalogue(client, queries));
    read.set(key, all);
    const scopes = new Set(parts.map(({ scope }) => scope));
    const now = all.filter(({ scope }) => scopes.has(scope));
    const objects = new Set(parts.map(({ object }) => object));
    const changes = compareParts(parts, now);
    for (const change of changes) drift[classify(change, objects, changes)].push(change);
  }
  return drift;
}

export const isDrifted = ({ api, repairable, lost }: Drift): boolean =>
  api.length + repairable.length + lost.length > 0;

function classify(change: PartChange, objects: Set<string>, changes: PartChange[]): keyof Drift {
  const { before, after } = change;
  if ((after ?? before)?.scope === "api") return "api";
  if (before === undefined) {
    const isOurs = after !== undefined && objects.has(after.object) && behaviour.test(after.part);
    return isOurs && after.removal !== null ? "repairable" : "foreign";
  }
  // With an object that is gone, all its parts are.
  const itself = changes.find((one) => one.before?.object === before.object && one.before.part === "");
  if (itself !== undefined && itself.after === undefined && itself.before?.repair === null) return "lost";
  if (after === undefined && before.part.startsWith("column ") && !before.object.startsWith("view "))
    return "lost";
  return before.repair === null ? "lost" : "repairable";
}

async function readRecords(client: Client): Promise<Recorded[]> {
  const { rows: tables } = await client.query("select to_regclass('deployment.catalogues') as found");
  if (tables[0].found === null) return [];
  // A publication writes its part down after it: what was published since is not known.
  const { rows } = await client.query<Recorded>(
    `select queries, parts from deployment.catalogues
     where data_set_id is null
       or data_set_id = (select data_sets.id from publication.data_sets where data_sets.state = 'live')`,
  );
  return rows;
}

/** So that what a deployment changes before it is killed does not look like drift to the next. */
export async function forgetRecord(client: Client): Promise<void> {
  const { rows } = await client.query("select to_regclass('deployment.catalogues') as found");
  if (rows[0].found === null) return;
  await client.query("delete from deployment.catalogues where name = 'deployment'");
}

/**
 * Writes down what a deployment has made, and the published data set where its publication did not: the next
 * deployment compares with it.
 *
 * @param drift what was found before
 * @param isApiDone whether the API is as its files make it; if not, what was written down of it stays
 */
export async function recordDeployment(
  client: Client,
  queries: string[],
  drift: Drift,
  isApiDone: boolean,
): Promise<void> {
  await recordCatalogue(client, queries, drift, isApiDone);
  await recordDataSet(client);
}

/** The same for a deployment that has changed nothing: what was written down last stays true. */
export async function keepRecord(client: Client, queries: string[], drift: Drift): Promise<void> {
  const { rowCount } = await client.query(
    "select from deployment.catalogues where name = 'deployment' and queries = $1",
    [queries],
  );
  if (rowCount === 0) await recordCatalogue(client, queries, drift, true);
  await recordDataSet(client);
}

async function recordCatalogue(
  client: Client,
  queries: string[],
  { foreign }: Drift,
  isApiDone: boolean,
): Promise<void> {
  const left = new Set(foreign.flatMap(({ after }) => (after === undefined ? [] : [keyOf(after)])));
  const now = (await readCatalogue(client, queries)).filter(
    // Nothing in public is of this project, also not what was there before its first deployment.
    (part) => !left.has(keyOf(part)) && !/^[a-z ]+ public\./.test(part.object),
  );
  const before = isApiDone ? now : (await readRecords(client)).flatMap(({ parts }) => parts);
  const parts = [
    ...now.filter(({ scope }) => scope === "durable"),
    ...before.filter(({ scope }) => scope === "api"),
  ];
  await client.query(
    `insert into deployment.catalogues (name, queries, parts) values ('deployment', $1, $2)
     on conflict (name) do update set queries = excluded.queries, parts = excluded.parts, recorded_at = now()`,
    [queries, JSON.stringify(parts)],
  );
}

async function recordDataSet(client: Client): Promise<void> {
  await client.query(
    `select deployment.record_data_set() where not exists (
       select from deployment.catalogues join publication.data_sets on data_sets.id = catalogues.data_set_id
       where data_sets.state = 'live'
     )`,
  );
}
