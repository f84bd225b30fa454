import { connect } from "../../shared/connect.ts";
import { readDeploymentFile } from "../sql/read-sql-file.ts";
import { prepareSession } from "../sql/session.ts";
import { runMigration } from "./migrations.ts";
import type { DatabaseFiles, Migration } from "./read-files.ts";

/**
 * Runs all migrations on an empty database, and observes the pending ones.
 *
 * @returns for each migration's ID, what its statements do to existing tables: the locks that they take, what the locks block, and
 *   whether they rewrite a table or read all its rows
 */
export async function observeMigrations(
  scratchUrl: string,
  files: DatabaseFiles,
  pending: Migration[],
): Promise<Map<string, string[]>> {
  const client = await connect(scratchUrl, "db-deploy");
  try {
    await prepareSession(client);
    for (const migration of files.migrations) {
      if (migration.id === pending[0]?.id)
        await client.query(await readDeploymentFile("observe_migrations.sql"));
      await runMigration(client, migration, files, () => {});
    }
    const { rows } = await client.query<{ migration: string; effects: string[] }>(
      `select migration, array_agg(line order by statement) as effects
       from (
         select migration, statement, command || ': ' || string_agg(effect, ', ' order by id) as line
         from observed.effects group by migration, statement, command
       ) as statements
       group by migration`,
    );
    return new Map(rows.map(({ migration, effects }) => [migration, effects]));
  } finally {
    await client.end();
  }
}
