import { createHash } from "node:crypto";
import type { Client, QueryResult } from "pg";
import { readDeploymentFile } from "../sql/read-sql-file.ts";

/** A statement that creates an object of this project, or a part of it (`db/deployment/catalog.sql`). */
export interface CatalogRow {
  /** Such as `table access.tiers`. */
  object: string;
  scope: "api" | "durable" | "outside";
  /** A description if PostgreSQL cannot print the SQL, such as `column name: text`. */
  statement: string;
  /** Where the statement comes among those of its object: 0 creates it, 1 adds a column. Null for a description. */
  place: number | null;
  /** The statement that undoes it, if there is one. */
  undo: string | null;
}

/** Hashes of a database's catalog by scope, and of the query that read it, because results of different queries differ. */
export type Fingerprint = Partial<Record<"api" | "durable" | "query", string>>;

const query = await readDeploymentFile("catalog.sql");

/** Reads all objects of this project in a database, in order. Before the first deployment ends, there are none. */
export async function readCatalog(client: Client): Promise<CatalogRow[]> {
  const { rows: functions } = await client.query("select to_regproc('publication.find_schemas') as found");
  if (functions[0].found === null) return [];
  // With an empty search path, set only for these statements, PostgreSQL prints qualified names.
  const results = await client.query(`set local search_path = ''; ${query}`);
  const rows: CatalogRow[] = (results as unknown as QueryResult<CatalogRow>[])[1]?.rows ?? [];
  const keyed = rows.map((row) => ({ row, key: keyOf(row) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ row }) => row);
}

const keyOf = ({ object, statement }: CatalogRow) => `${object}\n${statement}`;

export function fingerprintCatalog(rows: CatalogRow[]): Fingerprint {
  const hashOf = (some: CatalogRow[]) => hash(some.map(keyOf));
  const api = rows.filter(({ scope }) => scope === "api");
  return { api: hashOf(api), durable: hashOf(keepLasting(rows)), query: hash([query]) };
}

/** What deployments do not replace, so that a change to it is drift. */
export const keepLasting = (rows: CatalogRow[]) => rows.filter(({ scope }) => scope !== "api");

const hash = (texts: string[]) => createHash("md5").update(texts.join("\n")).digest("hex");

/** One object's difference between two catalogs. */
export interface ObjectChange {
  change: "added" | "changed" | "dropped";
  /** Such as `view api_v1_1_0.general`. */
  object: string;
  scope: CatalogRow["scope"];
  /** Lines of its statements that only one catalog has: `- ` the old one, `+ ` the new one. */
  lines: string[];
  /** Statements that restore it, as far as PostgreSQL can print them. */
  undo: string[];
}

/** Compares two catalogs, object by object. */
export function compareCatalogs(before: CatalogRow[], after: CatalogRow[]): ObjectChange[] {
  const objects = new Map([...before, ...after].map(({ object, scope }) => [object, scope]));
  return [...objects].sort().flatMap(([object, scope]): ObjectChange[] => {
    const old = before.filter((row) => row.object === object);
    const now = after.filter((row) => row.object === object);
    const gone = old.filter(({ statement }) => !now.some((row) => row.statement === statement));
    const made = now.filter(({ statement }) => !old.some((row) => row.statement === statement));
    if (gone.length + made.length === 0) return [];
    if (old.length === 0) return [{ change: "added", object, scope, lines: [], undo: undoAddition(made) }];
    if (now.length === 0) return [{ change: "dropped", object, scope, lines: [], undo: undoDrop(gone) }];
    const lines = [...describeLines("-", gone, made), ...describeLines("+", made, gone)];
    return [{ change: "changed", object, scope, lines, undo: undoChange(gone, made) }];
  });
}

const isCreation = ({ place }: CatalogRow) => place === 0;

/** Dropping an object drops its parts. */
function undoAddition(made: CatalogRow[]): string[] {
  const creation =
    made.find((row) => isCreation(row) || row.statement === row.object) ??
    made.find(({ undo }) => undo !== null);
  return creation?.undo ? [creation.undo] : [];
}

/** If PostgreSQL cannot print the statement that creates the object, the others would fail. */
function undoDrop(gone: CatalogRow[]): string[] {
  return gone.some(isCreation) ? listStatements(gone) : [];
}

/** Restores what is gone and removes what was made: added columns last, because other additions may depend on them. */
function undoChange(gone: CatalogRow[], made: CatalogRow[]): string[] {
  const isColumn = ({ place }: CatalogRow) => place === 1;
  const additions = made.filter((row) => !isCreation(row));
  return [
    ...listStatements(gone.filter(isCreation)),
    ...listInverses(additions.filter((row) => !isColumn(row))),
    ...listStatements(gone.filter((row) => !isCreation(row))),
    ...listInverses(additions.filter(isColumn)),
  ];
}

const listInverses = (rows: CatalogRow[]) => rows.flatMap(({ undo }) => undo ?? []);

/** The statements that PostgreSQL could print, in the order in which they can run. */
function listStatements(rows: CatalogRow[]): string[] {
  const printed = rows.flatMap(({ place, statement }) => (place === null ? [] : [{ place, statement }]));
  return printed.sort((a, b) => a.place - b.place).map(({ statement }) => statement);
}

/** Lines of some statements that others do not have. */
function describeLines(sign: string, rows: CatalogRow[], others: CatalogRow[]): string[] {
  // PostgreSQL ends each column of a view except the last with a comma.
  const split = (some: CatalogRow[]) =>
    some.flatMap(({ statement }) => statement.split("\n").map((line) => line.trim().replace(/,$/, "")));
  const known = split(others);
  return split(rows).flatMap((line) => (known.includes(line) ? [] : [`${sign} ${line}`]));
}

/** Changes as text: a line for each object, with its changed lines below. */
export function describeChanges(changes: ObjectChange[]): string[] {
  const signs = { added: "+", changed: "~", dropped: "-" };
  return changes.flatMap(({ change, object, lines }) => [
    `${signs[change]} ${object}`,
    ...lines.map((line) => `    ${line}`),
  ]);
}
