import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Client } from "pg";

/** A part of an object of this project, as `db/deployment/catalog.sql` reads it. */
export interface CatalogPart {
  /** What it is a part of, such as `table access.tiers`. */
  object: string;
  /** Empty for the object itself, else such as `column name` or `grant to api_public`. */
  part: string;
  scope: "api" | "data_set" | "durable";
  /** The statement that makes it so, where PostgreSQL can print it. */
  definition: string;
  /** The statement that takes it away. */
  removal: string | null;
}

/** Hashes of a database's catalog by scope, and of the query that read it: those of two queries say nothing. */
export type Fingerprint = Partial<Record<CatalogPart["scope"] | "query", string>>;

const query = readFileSync(path.resolve(import.meta.dirname, "../../db/deployment/catalog.sql"), "utf8");
// Rows that decide what keys may do are as durable as tables.
const tiers = `
select 'row of access.tiers ' || tiers.name as object, '' as part, 'durable' as scope, to_jsonb(tiers)::text as definition,
  format('delete from access.tiers where name = %L', tiers.name) as removal from access.tiers`;

/** Reads everything of this project in a database, in order. */
export async function readCatalog(client: Client): Promise<CatalogPart[]> {
  // Names are qualified in definitions when the path is empty.
  const { rows: paths } = await client.query("select current_setting('search_path') as path");
  await client.query("select set_config('search_path', '', false)");
  try {
    const parts = (await client.query<CatalogPart>(query)).rows;
    const { rows: found } = await client.query("select to_regclass('access.tiers') is not null as is_made");
    if (found[0].is_made) parts.push(...(await client.query<CatalogPart>(tiers)).rows);
    return parts.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  } finally {
    await client.query("select set_config('search_path', $1, false)", [paths[0].path]);
  }
}

/** By which a part is known. */
const keyOf = ({ object, part }: CatalogPart): string => `${object}\n${part}`;

export async function readFingerprint(client: Client): Promise<Fingerprint> {
  const parts = await readCatalog(client);
  const hashes = (["api", "data_set", "durable"] as const).map((scope) => [
    scope,
    hash(
      parts
        .filter((part) => part.scope === scope)
        .map((part) => keyOf(part) + part.definition)
        .join("\n"),
    ),
  ]);
  return { ...Object.fromEntries(hashes), query: hash(query + tiers) };
}

function hash(text: string): string {
  return createHash("md5").update(text).digest("hex");
}

/** What differs between two catalogs in one object. */
export interface ObjectChange {
  change: "added" | "changed" | "dropped";
  /** Such as `view api_v1_1_0.general`. */
  object: string;
  scope: CatalogPart["scope"];
  /** Lines of its definition that are in one catalog only: `- ` before, `+ ` after. */
  lines: string[];
  /** Statements that make it as it was before, as far as PostgreSQL can print them. */
  undo: string[];
}

/** Compares two catalogs, object by object. Of an object that is new or gone, the parts are not listed. */
export function compareCatalogs(before: CatalogPart[], after: CatalogPart[]): ObjectChange[] {
  const old = new Map(before.map((part) => [keyOf(part), part]));
  const now = new Map(after.map((part) => [keyOf(part), part]));
  const changes = new Map<string, ObjectChange>();
  for (const key of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(key), now.get(key)];
    if (was?.definition === is?.definition) continue;
    const { object = "", scope = "durable", part = "" } = is ?? was ?? {};
    const known = changes.get(object) ?? { change: "changed", object, scope, lines: [], undo: [] };
    changes.set(object, known);
    // Parts come after their object: what is new goes with it, what is gone comes back with it.
    if (known.change === "added" || (known.change === "dropped" && known.undo.length === 0)) continue;
    if (part === "" && was === undefined) known.change = "added";
    else if (part === "" && is === undefined) known.change = "dropped";
    else if (known.change === "changed") known.lines.push(...describePart(was, is));
    if (was !== undefined && /^(create|alter|grant|comment) /i.test(was.definition)) {
      // These are made anew.
      if (is?.removal && /^(policy|constraint|trigger|index|rule) /.test(part)) known.undo.push(is.removal);
      known.undo.push(was.definition);
    } else if (was === undefined && is?.removal) known.undo.push(is.removal);
  }
  return [...changes.values()];
}

function describePart(was?: CatalogPart, is?: CatalogPart): string[] {
  const split = (part?: CatalogPart) =>
    // PostgreSQL ends each column of a view but the last with a comma.
    (part === undefined ? [] : part.definition.split("\n")).map((line) => line.trim().replace(/,$/, ""));
  const [old, now] = [split(was), split(is)];
  const { part = "" } = is ?? was ?? {};
  const name = (line: string) =>
    line.includes(" ") && /^(create|alter|grant|comment)/i.test(line) ? line : `${part} ${line}`.trim();
  const lines = [
    ...old.filter((line) => !now.includes(line)).map((line) => `- ${name(line)}`),
    ...now.filter((line) => !old.includes(line)).map((line) => `+ ${name(line)}`),
  ];
  return lines.length > 0 ? lines : ["~ the same lines in another order"];
}

/** Changes as text: a line an object, and below it what changed in it. */
export function describeChanges(changes: ObjectChange[]): string[] {
  const signs = { added: "+", changed: "~", dropped: "-" };
  return changes.flatMap(({ change, object, lines }) => [
    `${signs[change]} ${object}`,
    ...lines.map((line) => `    ${line}`),
  ]);
}
