import { z } from "zod";
import type { S3Options } from "../../shared/objects/objects.ts";
import { awsSecrets, readS3Options } from "../../shared/objects/read-s3-options.ts";
import { readSecretFiles } from "../../shared/read-secret-files.ts";
import { readVariables } from "../../shared/read-variables.ts";
import { text } from "../../shared/web/config.ts";

/** Where the bulk files are: a directory, or s3://bucket/prefix. */
export type PublicDataConfig = { location: string } & S3Options;

const publicData = z.object({ PUBLIC_DATA: z.string().optional() });
const s3 = z.object({ S3_REGION: text("the bucket's region, such as us-gov-west-1") });

/**
 * Reads where the bulk files are from environment variables. Without PUBLIC_DATA there are none: returns undefined.
 *
 * @throws Error with one line for each missing or malformed variable
 */
export function readPublicDataConfig(environment: NodeJS.ProcessEnv): PublicDataConfig | undefined {
  const variables = readSecretFiles(environment, awsSecrets);
  const { PUBLIC_DATA: location } = readVariables(publicData, variables);
  if (location === undefined) return undefined;
  if (!location.startsWith("s3://")) return { location };
  const { S3_REGION: region } = readVariables(s3, variables);
  return { location, ...readS3Options(variables), region };
}
