import type { FastifyBaseLogger } from "fastify";
import type { Pool } from "pg";
import { readSecretFiles } from "../shared/read-secret-files.ts";
import { type AppConfig, databaseVariables, readAppConfig } from "../shared/web/config.ts";
import { type AddRoutes, createApp } from "../shared/web/create-app.ts";
import { createPool, DatabaseUnavailable, queryDatabase } from "../shared/web/database.ts";
import { type RunningApp, startApp } from "../shared/web/start-app.ts";

/** May read what the pages show, and cannot redeem tokens. */
const role = "site";
/** Pages share what was last read, and each download runs one short query. */
const connections = 4;

/**
 * Reads the configuration of the site's own process from environment variables.
 *
 * @throws Error with one line for each missing or malformed variable
 */
export function readSiteAppConfig(environment: NodeJS.ProcessEnv): AppConfig {
  const { url, password } = databaseVariables(role);
  return readAppConfig(readSecretFiles(environment, [url, password]), role);
}

/**
 * Starts the site in a process of its own, without PDFs and tokens.
 *
 * @throws Error if a port is taken, or if the database role may redeem tokens
 */
export async function startSite(
  config: AppConfig & { logger: FastifyBaseLogger; addSite: AddRoutes },
): Promise<RunningApp> {
  const { database, logger, trustedIps, addSite } = config;
  const pool = createPool(database, logger, "site", connections);
  const checkDatabase = () => checkRole(pool);
  try {
    await checkDatabase();
  } catch (error) {
    // While the database is unreachable, the site runs, but is not ready.
    if (!(error instanceof DatabaseUnavailable)) {
      await pool.end();
      throw error;
    }
  }
  const { app, registry, parts } = createApp({
    pool,
    checks: { database: checkDatabase },
    trustedIps,
    logger,
  });
  addSite(app, parts);
  return await startApp(config, { app, registry, release: () => pool.end() });
}

/** @throws Error if the database role may redeem tokens, DatabaseUnavailable if it cannot serve the pages now */
async function checkRole(pool: Pool): Promise<void> {
  const [mayRedeem] = await queryDatabase(
    pool,
    `select exists (
       select from pg_proc
       where pronamespace = 'access'::regnamespace and proname = 'redeem_access_token'
         and has_schema_privilege(pronamespace, 'usage') and has_function_privilege(oid, 'execute')
     ), publication.is_switched_on()`,
    [],
  );
  if (mayRedeem) {
    const { url } = databaseVariables(role);
    throw new Error(
      `The database role of the site can redeem tokens. Set ${url} to the login of the role ${role}.`,
    );
  }
}
