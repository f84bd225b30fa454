import path from "node:path";
import { loadDataSet } from "../../refresh/load-data-set.ts";
import { connect } from "../connect.ts";
import { applyApiSchemas } from "./apply-api-schemas.ts";
import { readApiFiles } from "./read-api-files.ts";
import { runMigrations } from "./run-migrations.ts";
import { type LoginRole, setRolePasswords } from "./set-role-passwords.ts";

const directory = path.resolve(import.meta.dirname, "..");

/** What a deployment did. */
export interface Deployment {
  migrations: string[];
  apiSchemasChanged: boolean;
}

/**
 * Brings a database to the state of `db`: migrations, an empty data set where there is none, passwords of the
 * login roles that are given, then the API schemas. Changes nothing where nothing is to be done.
 */
export async function deployDatabase(
  databaseUrl: string,
  passwords: Partial<Record<LoginRole, string>> = {},
): Promise<Deployment> {
  const client = await connect(databaseUrl, "db-deploy");
  try {
    const migrations = await runMigrations(client, path.join(directory, "migrations"));
    await setRolePasswords(client, passwords);
    const { rows } = await client.query("select to_regclass('dissemination.data_set') as view");
    if (rows[0].view === null) {
      await client.query("set role publisher");
      await loadDataSet(client, { source: "empty", files: [] });
      await client.query("reset role");
    }
    const apiFiles = await readApiFiles(path.join(directory, "api"));
    return { migrations, apiSchemasChanged: await applyApiSchemas(client, apiFiles) };
  } finally {
    await client.end();
  }
}
