import { runner } from "node-pg-migrate";
import type { Client } from "pg";

/**
 * Runs the migrations of `db/migrations` that this database has not had, each in a transaction of its own.
 * A second run at the same time waits for the first.
 *
 * @returns the names of those it ran, in order
 */
export async function runMigrations(client: Client, directory: string): Promise<string[]> {
  const migrations = await runner({
    dbClient: client,
    dir: directory,
    direction: "up",
    migrationsSchema: "deployment",
    migrationsTable: "migrations",
    createMigrationsSchema: true,
    singleTransaction: false,
    advisoryLockMode: "wait",
    log: () => {},
  });
  return migrations.map(({ name }) => name);
}
