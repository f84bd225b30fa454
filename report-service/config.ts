import type { ClientConfig } from "pg";
import { z } from "zod";
import { describeDatabase } from "../shared/describe-database.ts";
import type { S3Options } from "../shared/objects.ts";
import { awsSecrets, readS3Options } from "../shared/read-s3-options.ts";
import { readSecretFiles } from "../shared/read-secret-files.ts";
import {
  databaseUrl,
  describeVariable,
  httpUrl,
  listenPort,
  readVariables,
} from "../shared/read-variables.ts";
import type { S3StoreOptions } from "./storage.ts";

type StorageConfig = { kind: "local"; directory: string } | ({ kind: "s3" } & S3StoreOptions);

export interface ReportServiceConfig {
  host: string;
  port: number;
  /** Where to serve /metrics, if at all. */
  metrics?: { host: string; port: number } | undefined;
  database: ClientConfig;
  storage: StorageConfig;
  /** Where the bulk files are, if this service serves them: a directory, or s3://bucket/prefix. */
  publicData?: ({ location: string } & S3Options) | undefined;
  /** Load balancers whose X-Forwarded-For is trusted: addresses or ranges. */
  trustedIps?: string[] | undefined;
}

const secrets = ["REPORT_SERVICE_DATABASE_URL", "REPORT_SERVICE_DATABASE_PASSWORD", ...awsSecrets];

const text = (what: string) => z.string(`should be ${what}`).min(1, `should be ${what}`);
const host = text("an address to listen on, such as 127.0.0.1 or 0.0.0.0").default("127.0.0.1");
const addressOrRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: "should be IP addresses or ranges such as 10.0.0.0/8, separated by commas",
});

const reportService = z.object({
  APP_HOST: host,
  APP_PORT: listenPort.default(8001),
  APP_METRICS_HOST: host,
  APP_METRICS_PORT: listenPort.optional(),
  PGHOST: z.string().optional(),
  REPORT_SERVICE_DATABASE_URL: databaseUrl("report_service").optional(),
  REPORT_SERVICE_DATABASE_PASSWORD: z.string().optional(),
  REPORTS_DIRECTORY: z.string().optional(),
  S3_BUCKET: z.string().optional(),
  PUBLIC_DATA: z.string().optional(),
  TRUSTED_IPS: z
    .string()
    .transform((list) => list.split(/[\s,]+/).filter(Boolean))
    .pipe(z.array(addressOrRange))
    .optional(),
});
const s3Store = z.object({
  S3_REGION: text("the bucket's region, such as us-gov-west-1"),
  S3_KEY_PREFIX: z.string().default("reports/"),
  S3_PUBLIC_ENDPOINT: httpUrl("the URL at which clients reach the S3 API, or this service").optional(),
});

/**
 * Reads the report service's configuration from environment variables. An empty value counts as unset.
 *
 * @throws Error with one line for each missing or malformed variable
 */
export function readReportServiceConfig(environment: NodeJS.ProcessEnv): ReportServiceConfig {
  const variables = readSecretFiles(environment, secrets);
  const read = readVariables(reportService, variables);
  const { REPORT_SERVICE_DATABASE_URL: connectionString, REPORTS_DIRECTORY, S3_BUCKET } = read;
  if (connectionString === undefined && read.PGHOST === undefined) {
    throw new Error(
      describeVariable("REPORT_SERVICE_DATABASE_URL", "is missing: it, or PGHOST, names the database"),
    );
  }
  if ((REPORTS_DIRECTORY === undefined) === (S3_BUCKET === undefined)) {
    const what = "should be set to the directory of the PDFs, or S3_BUCKET to their bucket: one of them";
    throw new Error(describeVariable("REPORTS_DIRECTORY", what));
  }
  const { APP_METRICS_HOST, APP_METRICS_PORT, PUBLIC_DATA: location } = read;
  return {
    host: read.APP_HOST,
    port: read.APP_PORT,
    metrics: APP_METRICS_PORT === undefined ? undefined : { host: APP_METRICS_HOST, port: APP_METRICS_PORT },
    database: describeDatabase(connectionString, read.REPORT_SERVICE_DATABASE_PASSWORD),
    storage:
      S3_BUCKET === undefined
        ? { kind: "local", directory: REPORTS_DIRECTORY ?? "" }
        : { kind: "s3", bucket: S3_BUCKET, ...readS3(variables) },
    publicData:
      location === undefined
        ? undefined
        : { location, ...(location.startsWith("s3://") && readS3(variables)) },
    trustedIps: read.TRUSTED_IPS,
  };
}

function readS3(variables: Record<string, string>): Omit<S3StoreOptions, "bucket"> {
  const read = readVariables(s3Store, variables);
  return {
    ...readS3Options(variables),
    keyPrefix: read.S3_KEY_PREFIX,
    publicEndpoint: read.S3_PUBLIC_ENDPOINT,
  };
}
