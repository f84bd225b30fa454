import type { Client } from "pg";
import { describeSqlError, SqlFileError } from "../sql/describe-sql-error.ts";
import { readSession, runSqlFile, type Session } from "../sql/run-sql-file.ts";
import { splitStatements } from "../sql/split-statements.ts";
import { describeInvalidIndexes, findPendingMigrations, readApplied } from "./check-migrations.ts";
import { type Migration, readMigrations } from "./read-migrations.ts";
import { lockTimeoutMilliseconds, takeTurns } from "./take-turns.ts";

/**
 * Runs the migrations of `db/migrations` that this database has not had, each in a transaction of its own that
 * waits for locks in short turns. One whose first line is `-- No transaction: <why>` is run statement by statement,
 * and waits for locks as long as it takes. A second run at the same time waits for the first.
 *
 * @returns the names of those it ran, in order
 * @throws DeploymentRefused before anything is changed, when the database was made by other migrations
 * @throws SqlFileError that names file, line and column; those before the one that failed stay done
 * @throws DeploymentRefused when the migrations are not those that this database has had, and more
 */
export async function runMigrations(
  client: Client,
  directory: string,
  report: (line: string) => void = () => {},
): Promise<string[]> {
  const migrations = await readMigrations(directory);
  const done: string[] = [];
  if ((await findPendingMigrations(client, migrations, { rollsBackApi: true })).length === 0) return done;
  await client.query(migrationsTable);
  await takeTurns(
    client,
    async () => {
      const pending = await findPendingMigrations(client, migrations, { rollsBackApi: true });
      try {
        await client.query(`set lock_timeout = ${lockTimeoutMilliseconds}`);
        await runPending(client, directory, pending);
      } catch (error) {
        await client.query("rollback");
        throw error;
      } finally {
        await client.query("reset lock_timeout");
        const applied = await readApplied(client);
        done.push(
          ...pending.map(({ name }) => name).filter((name) => applied.some((one) => one.name === name)),
        );
      }
    },
    report,
  );
  return done;
}

// As node-pg-migrate would make it, with the checksum, which a migration's own transaction writes down.
const migrationsTable = `
create schema if not exists deployment;
create table if not exists deployment.migrations (
  id serial primary key,
  name varchar(255) not null,
  run_on timestamp not null,
  sha256 text default nullif(current_setting('deployment.migration_sha256', true), '')
)`;

async function runPending(client: Client, directory: string, pending: Migration[]): Promise<void> {
  // Large: most deployments have none to run.
  const { runner } = await import("node-pg-migrate");
  let session = await readSession(client);
  await runner({
    dbClient: client,
    dir: directory,
    direction: "up",
    migrationsSchema: "deployment",
    migrationsTable: "migrations",
    singleTransaction: false,
    advisoryLockMode: "wait",
    log: () => {},
    migrationLoaderStrategies: [
      {
        extensions: [".sql"],
        loader: async (files) =>
          files.map((file) => ({
            id: file,
            filePaths: [file],
            actions: {
              up: async (builder) => {
                const migration = pending.find(({ path }) => file.endsWith(path));
                if (migration === undefined) throw new Error(`${file} has come just now. Try again.`);
                if (migration.noTransaction === undefined) await runMigration(client, migration, session);
                else {
                  builder.noTransaction();
                  await runWithoutTransaction(client, migration);
                  // What it sets stays, and is not the next one's doing.
                  session = await readSession(client);
                }
              },
            },
          })),
      },
    ],
  });
}

async function runMigration(
  client: Client,
  { path, sql, sha256 }: Migration,
  session: Session,
): Promise<void> {
  // The runner's own BEGIN, which comes only now, does nothing; it commits.
  await client.query("begin");
  await client.query("select set_config('deployment.migration_sha256', $1, true)", [sha256]);
  await runSqlFile(client, { name: `db/${path}`, sql }, session);
}

async function runWithoutTransaction(client: Client, { path, sql, sha256 }: Migration): Promise<void> {
  await client.query("select set_config('deployment.migration_sha256', $1, false)", [sha256]);
  await client.query("set lock_timeout = 0");
  const statements = splitStatements({ name: `db/${path}`, sql });
  for (const [index, statement] of statements.entries()) {
    await client.query(statement.text).catch(async (error: unknown) => {
      const described = describeSqlError(statement, error);
      if (!(described instanceof SqlFileError)) throw described;
      const lines = [
        described.message,
        index === 0
          ? "It runs without a transaction, and this is its first statement."
          : `It runs without a transaction: its ${index === 1 ? "first statement stays" : `first ${index} statements stay`} done, and would be run again.`,
        ...(await describeInvalidIndexes(client)),
      ];
      throw new SqlFileError(lines.join("\n"), { cause: error });
    });
  }
  await client.query(`set lock_timeout = ${lockTimeoutMilliseconds}`);
}
