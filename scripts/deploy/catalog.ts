import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Client, QueryResult } from "pg";

/** A statement that creates an object of this project, or a part of it (`db/deployment/catalog.sql`). */
export interface CatalogRow {
  /** Such as `table access.tiers`. */
  object: string;
  scope: "api" | "data_set" | "durable";
  /** A description if PostgreSQL cannot print the SQL, such as `column name: text`. */
  statement: string;
}

/** Hashes of a database's catalog by scope, and of the query that read it, because results of different queries differ. */
export type Fingerprint = Partial<Record<"api" | "durable" | "query", string>>;

const query = readFileSync(path.resolve(import.meta.dirname, "../../db/deployment/catalog.sql"), "utf8");
// These rows decide what keys may do, so a change to them is drift, like a change to a table.
const tiers = `
select 'row of access.tiers ' || tiers.name as object, 'durable' as scope, to_jsonb(tiers)::text as statement from access.tiers`;

/** Reads all objects of this project in a database, in order. */
export async function readCatalog(client: Client): Promise<CatalogRow[]> {
  // With an empty search path, set only for these statements, PostgreSQL prints qualified names.
  const results = await client.query(`set local search_path = ''; ${query}`);
  const rows: CatalogRow[] = (results as unknown as QueryResult<CatalogRow>[])[1]?.rows ?? [];
  if (rows.some(({ object }) => object === "table access.tiers"))
    rows.push(...(await client.query<CatalogRow>(tiers)).rows);
  return rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

const keyOf = ({ object, statement }: CatalogRow) => `${object}\n${statement}`;

export async function readFingerprint(client: Client): Promise<Fingerprint> {
  const rows = await readCatalog(client);
  const hashOf = (scope: string) => hash(rows.filter((row) => row.scope === scope).map(keyOf));
  return { api: hashOf("api"), durable: hashOf("durable"), query: hash([query, tiers]) };
}

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
  return [...objects].sort().flatMap(([object, scope]) => {
    const statementsIn = (rows: CatalogRow[]) =>
      rows.flatMap((row) => (row.object === object ? [row.statement] : []));
    const [old, now] = [statementsIn(before), statementsIn(after)];
    const gone = old.filter((statement) => !now.includes(statement));
    const made = now.filter((statement) => !old.includes(statement));
    if (gone.length + made.length === 0) return [];
    const change = old.length === 0 ? "added" : now.length === 0 ? "dropped" : "changed";
    // A new or dropped object includes its parts.
    const lines =
      change === "changed" ? [...describeLines("-", gone, made), ...describeLines("+", made, gone)] : [];
    return [{ change, object, scope, lines, undo: findUndo(object, gone, made, change) }];
  });
}

function findUndo(object: string, gone: string[], made: string[], change: ObjectChange["change"]): string[] {
  if (change === "added")
    return object.startsWith("row ") ? [] : [`drop ${object.replace("composite ", "")}`];
  // If the statement that creates the object is missing, the others would fail.
  if (change === "dropped" && !gone.some((statement) => rank(statement) === 0)) return [];
  return [...made.flatMap(invert), ...gone.filter(isSql)].sort((a, b) => rank(a) - rank(b));
}

// Columns come after their table, and before everything that depends on them.
const places = [/^create (?!(unique )?index|trigger|policy|rule)/i, / add column /, /^(?!.* drop column )/];
const rank = (statement: string) => places.findIndex((pattern) => pattern.test(statement)) >>> 0;

/** Lines of some statements that others do not have. */
function describeLines(sign: string, statements: string[], others: string[]): string[] {
  // PostgreSQL ends each column of a view except the last with a comma.
  const split = (texts: string[]) =>
    texts.flatMap((text) => text.split("\n").map((line) => line.trim().replace(/,$/, "")));
  const known = split(others);
  return split(statements).flatMap((line) => (known.includes(line) ? [] : [`${sign} ${line}`]));
}

const isSql = (statement: string) => /^(create|alter|grant|comment) /i.test(statement);

const inversions: [pattern: RegExp, inverse: string][] = [
  [/^(grant )(.*) to (\S+) with (inherit|grant).*/, "revoke $2 from $3"],
  [/^(grant )(.*) to (\S+)$/, "revoke $2 from $3"],
  [/^(comment on .*?) is [\s\S]*/, "$1 is null"],
  [/^(alter table .* alter column .*) set (not null|default).*/, "$1 drop $2"],
  [/^(alter table \S+) add (column \S+).*/, "$1 drop $2"],
  [/^(alter (?:table|domain) \S+) add (constraint (?:"[^"]+"|\S+))[\s\S]*/, "$1 drop $2"],
  [/^(alter (?:table|view) \S+) set \((\w+)=.*/, "$1 reset ($2)"],
  [/^(alter table \S+) enable row/, "$1 disable row"],
  [/^(alter table \S+) force row/, "$1 no force row"],
  [/^(alter table \S+) inherit/, "$1 no inherit"],
  [/^(alter role \S+) set (\S+) =.*/, "$1 reset $2"],
  // An index is in the schema of its table.
  [/^create (?:unique )?index (\S+) on (?:only )?(\w+)\.[\s\S]*/i, "drop index $2.$1"],
  [/^create (trigger|policy|rule) (\S+)[\s\S]*? on (\S+)[\s\S]*/i, "drop $1 $2 on $3"],
];

/** The statement that undoes another statement. */
function invert(statement: string): string[] {
  const rule = inversions.find(([pattern]) => pattern.test(statement));
  return rule === undefined ? [] : [statement.replace(...rule)];
}

/** Changes as text: a line for each object, with its changed lines below. */
export function describeChanges(changes: ObjectChange[]): string[] {
  const signs = { added: "+", changed: "~", dropped: "-" };
  return changes.flatMap(({ change, object, lines }) => [
    `${signs[change]} ${object}`,
    ...lines.map((line) => `    ${line}`),
  ]);
}
