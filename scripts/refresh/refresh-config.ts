import type { ClientConfig } from "pg";
import { z } from "zod";
import { describeDatabase } from "../../shared/describe-database.ts";
import { requireRunningStack } from "../../shared/find-running-stack.ts";
import type { StorageOptions } from "../../shared/objects/objects.ts";
import { readS3Options } from "../../shared/objects/read-s3-options.ts";
import { readSecretFiles } from "../../shared/read-secret-files.ts";
import { databaseUrl, listenPort, readVariables } from "../../shared/read-variables.ts";
import { type EnvironmentName, environments } from "../../shared/timetable.ts";
import type { SessionLimits } from "./watch-session.ts";

/** A refresh's database, source, and location of the bulk files. */
export interface RefreshConfig {
  database: ClientConfig;
  /** Directory or s3:// URL of the source files if --from is not given. */
  source: string | undefined;
  /** Directory or s3:// URL of the bulk files; without it, none are written. */
  publicData: string | undefined;
  /** How to reach s3:// URLs. */
  storage: StorageOptions;
  /** Tests set shorter limits. */
  limits?: SessionLimits;
  environment: EnvironmentName;
  /** Where the scheduled service listens. */
  host: string;
  port: number;
}

const secrets = [
  "PUBLISHER_DATABASE_URL",
  "PUBLISHER_DATABASE_PASSWORD",
  "DATABASE_URL",
  "LEDGER_ACCESS_KEY_ID",
  "LEDGER_SECRET_ACCESS_KEY",
];
const publisherUrl = databaseUrl("publisher").optional();
const schema = z.object({
  PUBLISHER_DATABASE_URL: publisherUrl,
  DATABASE_URL: publisherUrl,
  PUBLISHER_DATABASE_PASSWORD: z.string().optional(),
  PGHOST: z.string().optional(),
  PGDATABASE: z.string().optional(),
  REFRESH_SOURCE: z.string().optional(),
  PUBLIC_DATA: z.string().optional(),
  ENVIRONMENT: z.enum(environments, `should be ${environments.join(", ")}`).default("development"),
  REFRESH_HOST: z.string().default("127.0.0.1"),
  REFRESH_PORT: listenPort.default(8007),
});

/**
 * Reads the configuration from environment variables. An empty value counts as unset. A secret may also be in the file
 * that `<NAME>_FILE` names. If no database is named, uses the database of the stack that runs on this machine.
 *
 * @throws Error with one line for each missing or malformed variable
 */
export function readRefreshConfig(environment: NodeJS.ProcessEnv): RefreshConfig {
  const variables = readSecretFiles(environment, secrets);
  const data = readVariables(schema, variables);
  const named = data.PUBLISHER_DATABASE_URL ?? data.DATABASE_URL;
  const isNamed = named !== undefined || data.PGHOST !== undefined || data.PGDATABASE !== undefined;
  const stack = isNamed
    ? undefined
    : requireRunningStack(
        variables,
        "No database is configured. Set PUBLISHER_DATABASE_URL, DATABASE_URL or PGHOST.",
      );
  return {
    database: describeDatabase(named ?? stack?.databaseUrl, data.PUBLISHER_DATABASE_PASSWORD),
    source: data.REFRESH_SOURCE,
    publicData: data.PUBLIC_DATA ?? stack?.publicData,
    storage: readS3Options(variables),
    environment: data.ENVIRONMENT,
    host: data.REFRESH_HOST,
    port: data.REFRESH_PORT,
  };
}
