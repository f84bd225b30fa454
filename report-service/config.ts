import { isIP } from "node:net";
import type { ClientConfig } from "pg";
import { z } from "zod";
import { describeDatabase } from "../service/describe-database.ts";
import { readSecretFiles } from "../service/read-secret-files.ts";
import {
  databaseAddress,
  describeVariable,
  listenPort,
  readVariables,
  webAddress,
} from "../service/read-variables.ts";
import type { LocalStoreOptions } from "./local-store.ts";
import type { PublicFilesOptions } from "./public-files.ts";
import type { S3StoreOptions } from "./s3-store.ts";

export type StorageConfig = ({ kind: "local" } & LocalStoreOptions) | ({ kind: "s3" } & S3StoreOptions);

export interface ReportServiceConfig {
  host: string;
  port: number;
  /** Where /metrics is served, if at all. */
  metrics?: { host: string; port: number } | undefined;
  database: ClientConfig;
  storage: StorageConfig;
  /** Where the bulk files are, if they are served: a directory, or s3://bucket/prefix. */
  publicData?: ({ location: string } & PublicFilesOptions) | undefined;
  /** Load balancers in front, whose X-Forwarded-For is believed: addresses or ranges. */
  trustedIps?: string[] | undefined;
}

export interface LocalStorageConfig {
  host: string;
  port: number;
  directory: string;
  secret: string;
}

/** What may also stand in a file, named by `<NAME>_FILE`: Docker mounts secrets as files. */
const secrets = [
  "REPORT_SERVICE_DATABASE_URL",
  "REPORT_SERVICE_DATABASE_PASSWORD",
  "STORAGE_SIGNING_SECRET",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
];

const text = (what: string) => z.string(`should be ${what}`).min(1, `should be ${what}`);
const port = (fallback: number) => listenPort.default(fallback);
const isRange = (text: string) => {
  const [address = "", bits, ...more] = text.split("/");
  const most = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) > 0 &&
    more.length === 0 &&
    (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most))
  );
};
const addresses = z
  .string()
  .transform((list) =>
    list
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  )
  .refine((list) => list.every(isRange), "should be addresses or ranges such as 10.0.0.0/8, with commas");
const host = text("an address to listen on, such as 127.0.0.1 or 0.0.0.0").default("127.0.0.1");
const secret = z
  .string("should be the secret that the report service and the local storage share")
  .min(32, "should have 32 characters or more; openssl rand -hex 32 makes one");

const reportService = z.object({
  APP_HOST: host,
  APP_PORT: port(8001),
  APP_METRICS_HOST: host,
  APP_METRICS_PORT: listenPort.optional(),
  PGHOST: z.string().optional(),
  REPORT_SERVICE_DATABASE_URL: databaseAddress("report_service").optional(),
  REPORT_SERVICE_DATABASE_PASSWORD: z.string().optional(),
  STORAGE_URL: webAddress("the local storage's address, such as http://127.0.0.1:8002").optional(),
  S3_BUCKET: text("the name of a bucket").optional(),
  PUBLIC_DATA: z.string().optional(),
  TRUSTED_IPS: addresses.optional(),
});
const localStore = z.object({ STORAGE_SIGNING_SECRET: secret });
const s3Store = z.object({
  S3_REGION: text("the bucket's region, such as us-gov-west-1"),
  S3_KEY_PREFIX: z.string().default("reports/"),
  S3_ENDPOINT: webAddress("the S3 API's address, such as http://minio:9000").optional(),
  S3_PUBLIC_ENDPOINT: webAddress("the address at which clients reach the S3 API, or this service").optional(),
  S3_FORCE_PATH_STYLE: z.enum(["true", "false"], "should be true or false").default("false"),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
});
const localStorage = z.object({
  STORAGE_HOST: host,
  STORAGE_PORT: port(8002),
  STORAGE_DIRECTORY: text("the directory that holds <report_id>.pdf for each report"),
  STORAGE_SIGNING_SECRET: secret,
});

/**
 * Reads the report service's configuration from environment variables. An empty value counts as unset.
 *
 * @throws Error with one line for each missing or malformed variable
 */
export function readReportServiceConfig(environment: NodeJS.ProcessEnv): ReportServiceConfig {
  const variables = readSecretFiles(environment, secrets);
  const { APP_HOST, APP_PORT, PGHOST, ...rest } = readVariables(reportService, variables);
  const { REPORT_SERVICE_DATABASE_URL: connectionString, STORAGE_URL: url, S3_BUCKET: bucket } = rest;
  if (connectionString === undefined && PGHOST === undefined) {
    throw new Error(
      describeVariable("REPORT_SERVICE_DATABASE_URL", "is missing: it, or PGHOST, names the database"),
    );
  }
  if ((url === undefined) === (bucket === undefined)) {
    const what = "should be set for the local storage, or S3_BUCKET for S3: one of them";
    throw new Error(describeVariable("STORAGE_URL", what));
  }
  return {
    host: APP_HOST,
    port: APP_PORT,
    metrics:
      rest.APP_METRICS_PORT === undefined
        ? undefined
        : { host: rest.APP_METRICS_HOST, port: rest.APP_METRICS_PORT },
    database: describeDatabase(connectionString, rest.REPORT_SERVICE_DATABASE_PASSWORD),
    storage:
      url !== undefined
        ? { kind: "local", url, secret: readVariables(localStore, variables).STORAGE_SIGNING_SECRET }
        : { kind: "s3", bucket: bucket ?? "", ...readS3(variables) },
    publicData: readPublicData(rest.PUBLIC_DATA, variables),
    trustedIps: rest.TRUSTED_IPS,
  };
}

/** Reads the local storage server's configuration, as readReportServiceConfig does the report service's. */
export function readLocalStorageConfig(environment: NodeJS.ProcessEnv): LocalStorageConfig {
  const variables = readVariables(localStorage, readSecretFiles(environment, secrets));
  return {
    host: variables.STORAGE_HOST,
    port: variables.STORAGE_PORT,
    directory: variables.STORAGE_DIRECTORY,
    secret: variables.STORAGE_SIGNING_SECRET,
  };
}

function readPublicData(
  location: string | undefined,
  variables: Record<string, string>,
): ReportServiceConfig["publicData"] {
  if (location === undefined) return undefined;
  if (!location.startsWith("s3://")) return { location };
  const { region, endpoint, forcePathStyle, credentials } = readS3(variables);
  return { location, region, endpoint, forcePathStyle, credentials };
}

function readS3(variables: Record<string, string>): Omit<S3StoreOptions, "bucket"> {
  const s3 = readVariables(s3Store, variables);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = s3;
  const { AWS_SESSION_TOKEN: sessionToken } = s3;
  return {
    region: s3.S3_REGION,
    keyPrefix: s3.S3_KEY_PREFIX,
    endpoint: s3.S3_ENDPOINT,
    publicEndpoint: s3.S3_PUBLIC_ENDPOINT,
    forcePathStyle: s3.S3_FORCE_PATH_STYLE === "true",
    // What the standard chain would take first, read here because it may stand in files.
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined
        ? undefined
        : { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
  };
}
