import type { ClientConfig } from "pg";
import { z } from "zod";
import { describeDatabase } from "../service/describe-database.ts";
import { readSecretFiles } from "../service/read-secret-files.ts";
import { databaseAddress, describeVariable, readVariables, webAddress } from "../service/read-variables.ts";
import type { RedisCounters } from "./render-entities.ts";

export interface SyncConfig {
  database: ClientConfig;
  adminUrls: string[];
  postgrestUrl: string;
  postgrestCallsUrl: string | undefined;
  postgrestReadyUrl: string | undefined;
  /** For an Admin API that asks for one. */
  adminToken: string | undefined;
  redis: RedisCounters | undefined;
  /** Where /healthz, /readyz and /metrics are served, if at all. */
  listen: { host: string; port: number } | undefined;
}

const secrets = [
  "GATEWAY_SYNC_DATABASE_URL",
  "GATEWAY_SYNC_DATABASE_PASSWORD",
  "GATEWAY_ADMIN_TOKEN",
  "REDIS_PASSWORD",
] as const;

const port = z
  .string()
  .regex(/^[0-9]{1,5}$/, "should be a port number")
  .transform(Number)
  .refine((number) => number <= 65_535, "should be a port number");

const redisVariables = {
  REDIS_HOST: z.string().optional(),
  REDIS_PORT: port.default(6379),
  REDIS_PASSWORD: z.string().optional(),
};
const environment = z.object({
  ...redisVariables,
  GATEWAY_SYNC_DATABASE_URL: databaseAddress("gateway_sync").optional(),
  GATEWAY_SYNC_DATABASE_PASSWORD: z.string().optional(),
  PGHOST: z.string().optional(),
  GATEWAY_ADMIN_URLS: z
    .string("should be the admin addresses of the gateway's nodes, by comma")
    .transform((list) => list.split(",").map((item) => item.trim()))
    .pipe(z.array(webAddress("admin addresses such as http://gateway:8001, by comma"))),
  POSTGREST_URL: webAddress("PostgREST's address as the gateway reaches it, such as http://postgrest:3000"),
  POSTGREST_CALLS_URL: webAddress(
    "PostgREST's address for calls, where POSTGREST_URL reads a replica",
  ).optional(),
  POSTGREST_READY_URL: webAddress("PostgREST's check, such as http://postgrest:3001/ready").optional(),
  GATEWAY_ADMIN_TOKEN: z.string().optional(),
  GATEWAY_SYNC_HOST: z.string().default("127.0.0.1"),
  GATEWAY_SYNC_PORT: port.optional(),
});

/**
 * Reads the sync's configuration from environment variables. An empty value counts as unset.
 *
 * @throws Error with one line for each missing or malformed variable
 */
export function readSyncConfig(variables: NodeJS.ProcessEnv): SyncConfig {
  const data = readVariables(environment, readSecretFiles(variables, secrets));
  if (data.GATEWAY_SYNC_DATABASE_URL === undefined && data.PGHOST === undefined) {
    throw new Error(
      describeVariable("GATEWAY_SYNC_DATABASE_URL", "is missing: it, or PGHOST, names the database"),
    );
  }
  return {
    database: describeDatabase(data.GATEWAY_SYNC_DATABASE_URL, data.GATEWAY_SYNC_DATABASE_PASSWORD),
    adminUrls: data.GATEWAY_ADMIN_URLS,
    postgrestUrl: data.POSTGREST_URL,
    postgrestCallsUrl: data.POSTGREST_CALLS_URL,
    postgrestReadyUrl: data.POSTGREST_READY_URL,
    adminToken: data.GATEWAY_ADMIN_TOKEN,
    redis: describeRedis(data),
    listen:
      data.GATEWAY_SYNC_PORT === undefined
        ? undefined
        : { host: data.GATEWAY_SYNC_HOST, port: data.GATEWAY_SYNC_PORT },
  };
}

/** Reads REDIS_HOST, REDIS_PORT and REDIS_PASSWORD (or REDIS_PASSWORD_FILE). Without a host there is none. */
export function readRedis(variables: NodeJS.ProcessEnv): {
  redis: RedisCounters | undefined;
  redisPassword: string | undefined;
} {
  const data = readVariables(z.object(redisVariables), readSecretFiles(variables, ["REDIS_PASSWORD"]));
  const redis = describeRedis(data);
  return { redis, redisPassword: redis && data.REDIS_PASSWORD };
}

function describeRedis(data: z.output<z.ZodObject<typeof redisVariables>>): RedisCounters | undefined {
  const { REDIS_HOST: host, REDIS_PORT, REDIS_PASSWORD: password } = data;
  return host === undefined ? undefined : { host, port: REDIS_PORT, hasPassword: password !== undefined };
}
