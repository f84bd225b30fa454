import { z } from "zod";
import { httpUrl, readVariables } from "../read-variables.ts";
import type { S3Options } from "./objects.ts";

/** Variables that `<NAME>_FILE` can set instead, because Docker mounts secrets as files. */
export const awsSecrets = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

const schema = z.object({
  S3_REGION: z.string().optional(),
  S3_ENDPOINT: httpUrl("the S3 API's URL, such as http://minio:9000").optional(),
  S3_FORCE_PATH_STYLE: z.enum(["true", "false"], "should be true or false").default("false"),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  LEDGER_ACCESS_KEY_ID: z.string().optional(),
  LEDGER_SECRET_ACCESS_KEY: z.string().optional(),
});

/** @throws Error with one line for each malformed variable */
export function readS3Options(variables: Record<string, string>): S3Options {
  const read = readVariables(schema, variables);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = read;
  const { AWS_SESSION_TOKEN: sessionToken } = read;
  const { LEDGER_ACCESS_KEY_ID: ledgerKeyId, LEDGER_SECRET_ACCESS_KEY: ledgerKey } = read;
  return {
    region: read.S3_REGION,
    endpoint: read.S3_ENDPOINT,
    forcePathStyle: read.S3_FORCE_PATH_STYLE === "true",
    // Passed explicitly, because the AWS standard chain cannot read them from files.
    credentials:
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
        : undefined,
    ledgerCredentials:
      ledgerKeyId && ledgerKey ? { accessKeyId: ledgerKeyId, secretAccessKey: ledgerKey } : undefined,
  };
}
