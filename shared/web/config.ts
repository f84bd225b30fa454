import type { ClientConfig } from "pg";
import { z } from "zod";
import { describeDatabase } from "../describe-database.ts";
import { databaseUrl, describeVariable, listenPort, readVariables } from "../read-variables.ts";
import type { Listening } from "./start-app.ts";

export interface AppConfig extends Listening {
  database: ClientConfig;
  /** Load balancers whose X-Forwarded-For is trusted: addresses or ranges. */
  trustedIps?: string[] | undefined;
}

export const text = (what: string) => z.string(`should be ${what}`).min(1, `should be ${what}`);
const host = text("an address to listen on, such as 127.0.0.1 or 0.0.0.0").default("127.0.0.1");
const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: "should be IP addresses or ranges such as 10.0.0.0/8, separated by commas",
});

const listening = z.object({
  APP_HOST: host,
  APP_PORT: listenPort.default(8001),
  APP_METRICS_HOST: host,
  APP_METRICS_PORT: listenPort.optional(),
  PGHOST: z.string().optional(),
  TRUSTED_IPS: z
    .string()
    .transform((list) => list.split(/[\s,]+/).filter(Boolean))
    .pipe(z.array(addressOrRange))
    .optional(),
});

/** The variables with the URL of the database and the password of the role that the app connects as. */
export const databaseVariables = (role: string) => {
  const prefix = `${role.toUpperCase()}_DATABASE`;
  return { url: `${prefix}_URL`, password: `${prefix}_PASSWORD` };
};

/**
 * Reads where an app listens, and its database.
 *
 * @param role the role that it connects as
 * @throws Error with one line for each missing or malformed variable
 */
export function readAppConfig(variables: Record<string, string>, role: string): AppConfig {
  const read = readVariables(listening, variables);
  const { url, password } = databaseVariables(role);
  const { [url]: connectionString } = readVariables(
    z.object({ [url]: databaseUrl(role).optional() }),
    variables,
  );
  if (connectionString === undefined && read.PGHOST === undefined) {
    throw new Error(describeVariable(url, "is missing: it, or PGHOST, names the database"));
  }
  const { APP_METRICS_HOST, APP_METRICS_PORT } = read;
  return {
    host: read.APP_HOST,
    port: read.APP_PORT,
    metrics: APP_METRICS_PORT === undefined ? undefined : { host: APP_METRICS_HOST, port: APP_METRICS_PORT },
    database: describeDatabase(connectionString, variables[password]),
    trustedIps: read.TRUSTED_IPS,
  };
}
