import { createReadStream } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  NoSuchKey,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import type { Storage, StoredFile } from "./storage.ts";

/** Opens s3://bucket/prefix. Needs s3:ListBucket and s3:GetObject; for bulk files also s3:PutObject and s3:DeleteObject. */
export function openS3Storage(location: string): Storage {
  const [, Bucket, folder = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(location) ?? [];
  if (Bucket === undefined) throw new Error(`${location} should be an address such as s3://bucket/prefix.`);
  const prefix = folder === "" ? "" : `${folder}/`;
  const client = createClient();
  const nameOf = (key: string) => `s3://${Bucket}/${prefix}${key}`;

  async function list(Prefix: string, Delimiter?: string) {
    const files: StoredFile[] = [];
    const folders: string[] = [];
    for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix, Delimiter })) {
      for (const { Key = "", Size = 0, ETag = "" } of page.Contents ?? [])
        files.push(describeObject(Key, Size, ETag));
      folders.push(
        ...(page.CommonPrefixes ?? []).map((found) => (found.Prefix ?? "").slice(prefix.length, -1)),
      );
    }
    return { files, folders };
  }
  const describeObject = (Key: string, size: number, ETag: string): StoredFile => ({
    path: `s3://${Bucket}/${Key}`,
    size,
    // Fails if the object was replaced since it was listed.
    open: async () => {
      const request = client.send(new GetObjectCommand({ Bucket, Key, IfMatch: ETag }));
      return (await describeErrors(`s3://${Bucket}/${Key}`, "read", request)).Body as Readable;
    },
    identify: async () => `${size} ${ETag}`,
    checkUnchanged: async () => {},
  });
  const put = async (key: string, Body: string | Readable, ContentType: string, ContentLength?: number) => {
    const command = new PutObjectCommand({ Bucket, Key: prefix + key, Body, ContentType, ContentLength });
    await describeErrors(nameOf(key), "written", client.send(command));
  };

  return {
    check: async (abortSignal) => {
      await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
    },
    listFiles: async () => (await describeErrors(location, "read", list(prefix, "/"))).files,
    listFolders: async () => (await describeErrors(location, "read", list(prefix, "/"))).folders,
    removeFolder: async (name) => {
      const { files } = await describeErrors(location, "read", list(`${prefix}${name}/`));
      const keys = files.map((file) => ({ Key: file.path.slice(`s3://${Bucket}/`.length) }));
      while (keys.length > 0) {
        const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.splice(0, 1000) } });
        await describeErrors(nameOf(name), "removed", client.send(command));
      }
    },
    makeWorkDirectory: () => mkdtemp(path.join(tmpdir(), "public-data-")),
    put: async (key, file, contentType) =>
      put(key, createReadStream(file), contentType, (await stat(file)).size),
    putText: (key, text) => put(key, text, "application/json"),
    readText: async (key) => {
      const request = client.send(new GetObjectCommand({ Bucket, Key: prefix + key }));
      const found = describeErrors(nameOf(key), "read", request);
      return await found.then(
        ({ Body }) => Body?.transformToString(),
        (error: Error) => {
          if (error.cause instanceof NoSuchKey) return undefined;
          throw error;
        },
      );
    },
  };
}

/**
 * A client configured by the environment: AWS's own variables, S3_ENDPOINT and S3_FORCE_PATH_STYLE for other providers, and
 * S3_REGION, which the report service uses as well.
 */
function createClient(): S3Client {
  const { S3_ENDPOINT, S3_REGION, S3_FORCE_PATH_STYLE } = process.env;
  return new S3Client({
    ...(S3_ENDPOINT ? { endpoint: S3_ENDPOINT } : {}),
    ...(S3_REGION ? { region: S3_REGION } : {}),
    forcePathStyle: S3_FORCE_PATH_STYLE === "true",
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
}

/** @throws Error such as `s3://bucket/key cannot be read: AccessDenied.` */
async function describeErrors<Result>(address: string, verb: string, work: Promise<Result>): Promise<Result> {
  return await work.catch((cause: Error & { code?: string; Code?: string }) => {
    // S3 answers with a Code. A connection that fails has a code of the system.
    const reason = cause.Code ?? cause.code ?? (cause.message || cause.name);
    throw new Error(`${address} cannot be ${verb}: ${reason.replace(/\.$/, "")}.`, { cause });
  });
}
