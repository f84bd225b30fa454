import path from "node:path";
import type { Client } from "pg";
import { describeError } from "../../shared/describe-error.ts";
import { expectRights } from "../sql/check-rights.ts";
import { describeSqlError } from "../sql/describe-sql-error.ts";
import { runSqlFiles } from "../sql/run-sql-file.ts";
import { runTransaction } from "../sql/run-transaction.ts";
import { resetSession } from "../sql/session.ts";
import { forgetFingerprint, readDeployed } from "./deployed.ts";
import { DeploymentRefused, refuseIfFound } from "./deployment-refused.ts";
import type { DatabaseFiles, Migration } from "./read-files.ts";
import { hashPublicationFunctions, installLeakCheck, refuseLeaks } from "./refuse-leaks.ts";
import { replaceEarlyFunctions } from "./replace-functions.ts";

interface Applied {
  name: string;
  sha256: string;
}

const startEmpty = [
  "  On a local stack, run npm start -- --fresh. It replaces the data, keys and secrets.",
  '  Otherwise, restore keys, agreements and history from a backup ("Back up and restore" in docs/operations.md).',
];

/** The migrations that this database has run, ordered by name. */
async function readAppliedMigrations(client: Client): Promise<Applied[]> {
  const { rows: tables } = await client.query("select to_regclass('deployment.migrations') as found");
  if (tables[0].found === null) return [];
  return (await client.query<Applied>("select name, sha256 from deployment.migrations order by name")).rows;
}

/**
 * Compares a database's migrations with those of a checkout, in order: which it has not run, and which it ran that are newer than
 * all of the checkout's.
 *
 * @throws DeploymentRefused if an older one that it ran is missing, if one was edited, or if a pending one is dated before its last
 */
export async function compareMigrations(
  client: Client,
  migrations: Migration[],
): Promise<{ pending: Migration[]; newer: string[] }> {
  const applied = new Map((await readAppliedMigrations(client)).map(({ name, sha256 }) => [name, sha256]));
  const missing = [...applied.keys()].filter((name) => !migrations.some(({ id }) => id === name));
  const newest = migrations.at(-1)?.id ?? "";
  refuseIfFound(
    "Nothing was changed. This database ran migrations that db/migrations does not have:",
    missing.every((name) => name > newest) ? [] : missing,
    "Deploy the commit that has these migrations, or start with an empty database:",
    ...startEmpty,
  );
  const namesOf = (some: Migration[]) => some.map(({ name }) => name);
  refuseIfFound(
    "These migrations were edited after this database ran them:",
    namesOf(migrations.filter(({ id, sha256 }) => (applied.get(id) ?? sha256) !== sha256)),
    "The edits would not reach this database. Restore the files, and write the change as a new migration.",
    "If you did not edit them, this database ran different versions of these files. Deploy the commit that has those, or start with an empty database:",
    ...startEmpty,
  );
  const pending = migrations.filter(({ id }) => !applied.has(id));
  const last = [...applied.keys()].at(-1) ?? "";
  refuseIfFound(
    `These migrations are dated before the last one that this database ran, ${last}:`,
    namesOf(pending.filter(({ id }) => id < last)),
    "On a new database they would run before it, but on this database they would run after it. Give them a later date: rename them with git mv.",
  );
  return { pending, newer: missing };
}

/**
 * Runs one migration and records it, in a transaction of its own that ends with the leak check. A migration whose first line
 * says `-- No transaction: <why>` has one statement and waits for locks without a limit. If it causes a leak, the service is
 * switched off.
 *
 * @throws SqlFileError; LeaksFound; DeploymentRefused if a migration without a transaction causes a leak
 */
export async function runMigration(
  client: Client,
  migration: Migration,
  { functions, leakCheck, rights }: Pick<DatabaseFiles, "functions" | "leakCheck" | "rights">,
  report: (line: string) => void,
): Promise<void> {
  const { name, sql, noTransaction } = migration;
  const isFirst = (await readDeployed(client)) === undefined;
  const before = await hashPublicationFunctions(client);
  const check = async () => {
    // The first deployment checks when it has created the functions that the check calls.
    if (isFirst) return;
    const isReplaced = (await hashPublicationFunctions(client)) !== before;
    await installLeakCheck(client, leakCheck);
    await expectRights(client, rights);
    await refuseLeaks(client, noTransaction || isReplaced);
  };
  if (!noTransaction) {
    const work = async () => {
      await forgetFingerprint(client);
      await replaceEarlyFunctions(client, functions);
      await runOnce(client, migration, () => runSqlFiles(client, [migration]));
      await check();
    };
    return await runTransaction(client, work, report);
  }
  await runTransaction(
    client,
    async () => {
      await forgetFingerprint(client);
      await replaceEarlyFunctions(client, functions);
    },
    report,
  );
  await runOnce(client, migration, async () => {
    await client.query(sql).catch((cause: unknown) => {
      throw describeSqlError(migration, cause);
    });
  });
  await runTransaction(client, check, report).catch(async (cause: unknown) => {
    await client.query(
      "update publication.settings set is_switched_on = false, changed_at = now(), changed_by = session_user",
    );
    throw new DeploymentRefused(
      [
        describeError(cause),
        `${name} ran without a transaction, so it cannot be undone. The service was switched off.`,
        "Fix the leak, run npm run db:deploy to check, and switch the service on: npm run refresh -- --requests on.",
      ].join("\n"),
      { cause },
    );
  });
}

// The table that node-pg-migrate would make, with the checksum of the file that runs.
const migrationsTable = `
create schema if not exists deployment;
create table if not exists deployment.migrations (
  id serial primary key,
  name varchar(255) not null,
  run_on timestamp not null default now(),
  sha256 text not null default current_setting('deployment.migration_sha256')
)`;

/** Lets node-pg-migrate run one migration and record it, in the caller's transaction (docs/decisions/0007). */
async function runOnce(
  client: Client,
  { path: file, id, sha256 }: Migration,
  run: () => Promise<void>,
): Promise<void> {
  await client.query(migrationsTable);
  // Loaded only here, because it is large and most deployments have no migration to run.
  const { runner } = await import("node-pg-migrate");
  const up = async (builder: { noTransaction: () => void }) => {
    builder.noTransaction();
    await run();
    await resetSession(client);
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
