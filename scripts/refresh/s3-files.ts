import type { Readable } from "node:stream";
import { GetObjectCommand, HeadBucketCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import type { StoredFile } from "./stored-file.ts";

/**
 * Makes a client from the environment: AWS's own variables and chain of credentials, S3_ENDPOINT and
 * S3_FORCE_PATH_STYLE for what is not at AWS, S3_REGION as the report service has it.
 */
export function createS3Client(variables: NodeJS.ProcessEnv = process.env): S3Client {
  const { S3_ENDPOINT, S3_REGION, S3_FORCE_PATH_STYLE } = variables;
  return new S3Client({
    ...(S3_ENDPOINT ? { endpoint: S3_ENDPOINT } : {}),
    ...(S3_REGION ? { region: S3_REGION } : {}),
    forcePathStyle: S3_FORCE_PATH_STYLE === "true",
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

/** Takes `s3://bucket/prefix` apart. The prefix ends in a slash, or is empty. */
export function parseS3Address(address: string): { bucket: string; prefix: string } {
  const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)\/?(.*)$/.exec(address) ?? [];
  if (bucket === undefined) throw new Error(`${address} should be an address such as s3://bucket/prefix.`);
  return { bucket, prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/` };
}

/** @throws the storage's own error if the bucket of an address cannot be reached */
export async function checkBucket(address: string, abortSignal: AbortSignal): Promise<void> {
  const client = createS3Client();
  try {
    await client.send(new HeadBucketCommand({ Bucket: parseS3Address(address).bucket }), { abortSignal });
  } finally {
    client.destroy();
  }
}

/**
 * Names the address in an error of the S3 API.
 *
 * @throws Error such as `s3://bucket/key cannot be read: AccessDenied.`
 */
export async function nameAddress<Result>(
  address: string,
  verb: "read" | "written" | "removed",
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const cause = error as Error & { code?: string; Code?: string };
    // The name of an answer of S3 is its code; a connection that fails has one of the system.
    const what = cause.Code ?? cause.code ?? (cause.message || cause.name);
    throw new Error(`${address} cannot be ${verb}: ${what.replace(/\.$/, "")}.`, { cause });
  }
}

/** Lists the objects directly under a prefix, by name. */
export async function listObjects(address: string): Promise<StoredFile[]> {
  const { bucket: Bucket, prefix: Prefix } = parseS3Address(address);
  const client = createS3Client();
  const files: StoredFile[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await nameAddress(
      address,
      "read",
      client.send(new ListObjectsV2Command({ Bucket, Prefix, Delimiter: "/", ContinuationToken })),
    );
    for (const { Key = "", Size: size = 0, ETag = "" } of page.Contents ?? []) {
      files.push({
        path: `s3://${Bucket}/${Key}`,
        size,
        // An object that was replaced meanwhile is not read as if it were the one that was listed.
        open: async () => {
          const command = new GetObjectCommand({ Bucket, Key, IfMatch: ETag });
          const { Body } = await nameAddress(`s3://${Bucket}/${Key}`, "read", client.send(command));
          return Body as Readable;
        },
        identify: async () => `${size} ${ETag}`,
        checkUnchanged: async () => {},
      });
    }
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
  return files;
}
