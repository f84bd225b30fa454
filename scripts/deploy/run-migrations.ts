import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { runner } from "node-pg-migrate";
import type { Client } from "pg";
import { describeSqlError } from "./describe-sql-error.ts";
import { DeploymentRefused } from "./refuse-early-removal.ts";
import { lockTimeoutMilliseconds, takeTurns } from "./take-turns.ts";

/** One file of `db/migrations`. */
export interface Migration {
  /** Without `.sql`: as the database writes it down. */
  name: string;
  path: string;
  sql: string;
}

/** Reads the migrations, in order. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".sql")).sort();
  return await Promise.all(
    files.map(async (file) => ({
      name: path.basename(file, ".sql"),
      path: `migrations/${file}`,
      sql: await readFile(path.join(directory, file), "utf8"),
    })),
  );
}

/**
 * The migrations that this database has not had, in order.
 *
 * @throws DeploymentRefused when it was made by others than these
 */
export async function findPendingMigrations(client: Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows: tables } = await client.query("select to_regclass('deployment.migrations') as found");
  if (tables[0].found === null) return migrations;
  const { rows } = await client.query<{ name: string }>(
    "select name from deployment.migrations order by name",
  );
  const done = rows.map(({ name }) => name);
  refuseOtherHistory(done, migrations);
  return migrations.filter(({ name }) => !done.includes(name));
}

/** A database may be ahead of the files, as after a step back to an earlier release, but not beside them. */
function refuseOtherHistory(done: string[], migrations: Migration[]): void {
  const last = migrations.at(-1)?.name ?? "";
  const unknown = done.filter((name) => !migrations.some((migration) => migration.name === name));
  if (!unknown.some((name) => name < last)) return;
  throw new DeploymentRefused(
    [
      "This database was made by migrations that db/migrations does not have:",
      ...unknown.map((name) => `  ${name}`),
      "Nothing was changed. Deploy the commit that has them, or begin with an empty database:",
      "  The stack of npm start: npm start -- --fresh makes its data, keys and secrets anew.",
      "  Any other: docs/operations.md, Back-up and restore, takes keys, agreements and history along.",
    ].join("\n"),
  );
}

/**
 * Runs the migrations of `db/migrations` that this database has not had, each in a transaction of its own that
 * waits for locks in short turns. A second run at the same time waits for the first.
 *
 * @returns the names of those it ran, in order
 * @throws DeploymentRefused before anything is changed, when the database was made by other migrations
 * @throws SqlFileError that names file, line and column; those before the one that failed stay done
 */
export async function runMigrations(
  client: Client,
  directory: string,
  report: (line: string) => void = () => {},
): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const pending = await findPendingMigrations(client, migrations);
  if (pending.length === 0) return [];
  const done: string[] = [];
  await takeTurns(
    client,
    async () => {
      await client.query(`set lock_timeout = ${lockTimeoutMilliseconds}`);
      try {
        const run = await runner({
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
        done.push(...run.map(({ name }) => name));
      } catch (error) {
        await client.query("rollback");
        const left = await findPendingMigrations(client, migrations);
        done.push(
          ...pending.filter(({ name }) => !left.some((one) => one.name === name)).map(({ name }) => name),
        );
        const [failed] = left;
        throw failed === undefined ? error : describeSqlError(`db/${failed.path}`, failed.sql, error);
      } finally {
        await client.query("reset lock_timeout");
      }
    },
    report,
  );
  return [...new Set(done)];
}
