import path from "node:path";
import type { Client } from "pg";
import { describeError } from "../../service/describe-error.ts";
import { describeSqlError, SqlFileError } from "../sql/describe-sql-error.ts";
import { keepSession } from "../sql/keep-session.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { splitStatements } from "../sql/split-statements.ts";
import { describeInvalidIndexes } from "./check-migrations.ts";
import { DeploymentRefused } from "./deployment-refused.ts";
import type { Migration } from "./read-files.ts";
import { refuseLeaks } from "./refuse-leaks.ts";
import { inShortTurns } from "./take-turns.ts";

// As node-pg-migrate would make it, with the checksum of the file that runs.
const migrationsTable = `
create schema if not exists deployment;
create table if not exists deployment.migrations (
  id serial primary key,
  name varchar(255) not null,
  run_on timestamp not null,
  sha256 text default nullif(current_setting('deployment.migration_sha256', true), '')
)`;

/**
 * Runs one migration in a transaction of its own, which ends with the question whether anything leaks.
 *
 * @param question as in `refuseLeaks`
 * @throws SqlFileError that names file, line and column; DeploymentRefused when it leaks
 */
export async function runMigration(
  client: Client,
  migration: Migration,
  question: string,
  report: (line: string) => void,
): Promise<void> {
  if (migration.noTransaction !== undefined)
    return await runWithoutTransaction(client, migration, question, report);
  await inShortTurns(
    client,
    async () => {
      await runOnce(client, migration, () => runSqlFiles(client, [migration]));
      await refuseLeaks(client, question);
    },
    report,
  );
}

/**
 * Has node-pg-migrate run a migration, if the database has not had it, and record it. Which migrations to run, in what
 * order, and in what transaction, is decided before: a file that is edited or comes too late is refused, and not skipped.
 */
async function runOnce(client: Client, { path: file, id, sha256 }: Migration, run: () => Promise<void>) {
  await client.query(migrationsTable);
  // Large: most deployments have none to run.
  const { runner } = await import("node-pg-migrate");
  const up = async (builder: { noTransaction: () => void }) => {
    builder.noTransaction();
    await run();
    await client.query("select set_config('deployment.migration_sha256', $1, false)", [sha256]);
  };
  await runner({
    dbClient: client,
    dir: path.dirname(file),
    file: id,
    direction: "up",
    migrationsSchema: "deployment",
    migrationsTable: "migrations",
    singleTransaction: false,
    noLock: true,
    checkOrder: false,
    log: () => {},
    migrationLoaderStrategies: [
      {
        extensions: [".sql"],
        loader: async (files) => files.map((one) => ({ id: one, filePaths: [one], actions: { up } })),
      },
    ],
  });
}

/** Waits for locks as long as it takes. What leaks afterwards is not undone: the service is switched off. */
async function runWithoutTransaction(
  client: Client,
  migration: Migration,
  question: string,
  report: (line: string) => void,
): Promise<void> {
  await runOnce(client, migration, () => runOneByOne(client, migration));
  await inShortTurns(client, () => refuseLeaks(client, question, true), report).catch(
    async (error: unknown) => {
      await client.query(
        "update publication.settings set is_open = false, changed_at = now(), changed_by = session_user",
      );
      throw new DeploymentRefused(
        [
          describeError(error),
          `${migration.name} runs without a transaction, so it stays done, and the service was switched off.`,
          "Undo what leaks, check with npm run db:deploy, and switch it on: npm run refresh -- --requests on.",
        ].join("\n"),
        { cause: error },
      );
    },
  );
}

async function runOneByOne(client: Client, migration: Migration): Promise<void> {
  for (const [index, statement] of splitStatements(migration).entries()) {
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
  await client.query("reset all; reset role");
  await keepSession(client);
}
