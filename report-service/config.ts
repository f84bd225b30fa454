import { z } from "zod";
import { awsSecrets, readS3Options } from "../shared/objects/read-s3-options.ts";
import { readSecretFiles } from "../shared/read-secret-files.ts";
import { describeVariable, httpUrl, readVariables } from "../shared/read-variables.ts";
import { type AppConfig, databaseVariables, readAppConfig, text } from "../shared/web/config.ts";
import type { S3StoreOptions } from "./storage.ts";

export interface ReportServiceConfig extends AppConfig {
  storage: { kind: "local"; directory: string } | ({ kind: "s3" } & S3StoreOptions);
}

const role = "report_service";
const storage = z.object({
  REPORTS_DIRECTORY: z.string().optional(),
  S3_BUCKET: z.string().optional(),
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
  const { url, password } = databaseVariables(role);
  const variables = readSecretFiles(environment, [url, password, ...awsSecrets]);
  const config = readAppConfig(variables, role);
  const { REPORTS_DIRECTORY: directory = "", S3_BUCKET: bucket } = readVariables(storage, variables);
  if ((directory === "") === (bucket === undefined)) {
    const what = "should be set to the directory of the PDFs, or S3_BUCKET to their bucket: one of them";
    throw new Error(describeVariable("REPORTS_DIRECTORY", what));
  }
  if (bucket === undefined) return { ...config, storage: { kind: "local", directory } };
  const read = readVariables(s3Store, variables);
  return {
    ...config,
    storage: {
      kind: "s3",
      bucket,
      ...readS3Options(variables),
      keyPrefix: read.S3_KEY_PREFIX,
      publicEndpoint: read.S3_PUBLIC_ENDPOINT,
    },
  };
}
