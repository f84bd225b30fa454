import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Client } from "pg";

// The list of rights that people review, and its record in the database (db/deployment/rights.sql).

const pathOf = (directory: string) => path.join(directory, "contracts/rights.txt");

/** Reads `contracts/rights.txt` of a `db` directory: one line for each fact. */
export async function readRights(directory: string): Promise<string[]> {
  const text = await readFile(pathOf(directory), "utf8");
  return text.split(/\r?\n/).filter((line) => line !== "");
}

/** Writes `contracts/rights.txt` of a `db` directory. */
export async function writeRights(directory: string, facts: string[]): Promise<void> {
  await writeFile(pathOf(directory), facts.map((fact) => `${fact}\n`).join(""));
}

/** What a database's roles may do. The leak check must be installed. */
export async function readFacts(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ fact: string }>("select fact from publication.find_rights()");
  return rows.map(({ fact }) => fact);
}

/** What the roles of a deployed database may do, or may no longer do, although the last deployment did not list it. */
export interface ChangedRight {
  /** The fact, and how to undo it. */
  leak: string;
  fact: string;
  is_missing: boolean;
  /** Whether a deployment sets it anew. */
  is_replaced: boolean;
}

export async function findChangedRights(client: Client): Promise<ChangedRight[]> {
  return (await client.query<ChangedRight>("select * from publication.find_changed_rights()")).rows;
}

/** The lines that only one of two lists has: `- ` the first, `+ ` the second. */
export function compareLines(listed: string[], found: string[]): string[] {
  const without = (some: string[], others: string[]) => {
    const known = new Set(others);
    return some.filter((fact) => !known.has(fact));
  };
  return [
    ...without(listed, found).map((fact) => `- ${fact}`),
    ...without(found, listed).map((fact) => `+ ${fact}`),
  ];
}

/**
 * Lets a deployment's steps have the rights of its list, besides those of the deployment before. Does nothing before the
 * migration that creates the table.
 */
export async function expectRights(client: Client, listed: string[]): Promise<void> {
  const { rows } = await client.query("select to_regclass('deployment.rights') is not null as found");
  if (!rows[0].found) return;
  await client.query(
    `with listed as (
       insert into deployment.rights (fact, is_required) select unnest($1::text[]), false on conflict do nothing
     )
     update deployment.rights set is_required = false where fact <> all ($1)`,
    [listed],
  );
}

/**
 * Records the list at the end of a deployment, in its transaction. Bodies of functions that run with their caller's rights are
 * recorded as the deployment has just made them.
 *
 * @param keeps whether facts of the deployment before that are still true stay in the list: the database has newer migrations
 */
export async function recordRights(client: Client, listed: string[], keeps: boolean): Promise<void> {
  const kept = keeps ? await readFacts(client) : [];
  await client.query("delete from deployment.rights where fact <> all ($1) and fact <> all ($2)", [
    listed,
    kept,
  ]);
  await client.query(
    `insert into deployment.rights (fact, is_required)
     select unnest($1::text[]), true union all select fact, true from publication.find_bodies()
     on conflict (fact) do update set is_required = true`,
    [listed],
  );
  await client.query("update deployment.rights set is_required = true where not is_required");
}
