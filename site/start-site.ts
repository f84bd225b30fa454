import type { FastifyBaseLogger } from "fastify";
import { readSecretFiles } from "../shared/read-secret-files.ts";
import { type AppConfig, databaseVariables, readAppConfig } from "../shared/web/config.ts";
import { type AddRoutes, createApp } from "../shared/web/create-app.ts";
import { createPool, queryDatabase } from "../shared/web/database.ts";
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
 * @throws Error if a port is taken
 */
export async function startSite(
  config: AppConfig & { logger: FastifyBaseLogger; addSite: AddRoutes },
): Promise<RunningApp> {
  const { database, logger, trustedIps, addSite } = config;
  const pool = createPool(database, logger, "site", connections);
  const checkDatabase = () => queryDatabase(pool, "select publication.is_switched_on()", []);
  const { app, registry, parts } = createApp({
    pool,
    checks: { database: async () => void (await checkDatabase()) },
    trustedIps,
    logger,
  });
  addSite(app, parts);
  return await startApp(config, { app, registry, release: () => pool.end() });
}
