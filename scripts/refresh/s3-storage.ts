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
import { parseBucketUrl } from "../../service/parse-bucket-url.ts";
import type { Storage } from "./storage.ts";

/** Opens s3://bucket/prefix. Needs s3:ListBucket and s3:GetObject; for bulk files also s3:PutObject and s3:DeleteObject. */
export function openS3Storage(location: string): Storage {
  const { bucket: Bucket, folder } = parseBucketUrl(location);
  const prefix = folder === "" ? "" : `${folder}/`;
  const client = createClient(location);

  async function list(Prefix: string, Delimiter?: string) {
    const objects: { Key: string; size: number; ETag: string }[] = [];
    const folders: string[] = [];
    for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix, Delimiter })) {
      for (const { Key = "", Size: size = 0, ETag = "" } of page.Contents ?? [])
        objects.push({ Key, size, ETag });
      for (const found of page.CommonPrefixes ?? [])
        folders.push((found.Prefix ?? "").slice(prefix.length, -1));
    }
    return { objects, folders };
  }
  type Content = string | Buffer | Readable;
  const put = async (key: string, Body: Content, ContentType: string, ContentLength?: number) => {
    await client.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body, ContentType, ContentLength }));
  };

  return {
    check: async (abortSignal) => {
      await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
    },
    listFiles: async () => {
      const { objects } = await list(prefix, "/");
      return objects.map(({ Key, size, ETag }) => ({
        path: `s3://${Bucket}/${Key}`,
        size,
        // Fails if the object was replaced after it was listed.
        open: async () =>
          (await client.send(new GetObjectCommand({ Bucket, Key, IfMatch: ETag }))).Body as Readable,
        identify: async () => `${size} ${ETag}`,
        checkUnchanged: async () => {},
      }));
    },
    listFolders: async () => (await list(prefix, "/")).folders,
    removeFolder: async (name) => {
      const Objects = (await list(`${prefix}${name}/`)).objects.map(({ Key }) => ({ Key }));
      while (Objects.length > 0)
        await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: Objects.splice(0, 1000) } }));
    },
    makeWorkDirectory: () => mkdtemp(path.join(tmpdir(), "public-data-")),
    put,
    putFile: async (key, file, contentType) =>
      put(key, createReadStream(file), contentType, (await stat(file)).size),
    readText: async (key) => {
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: prefix + key }));
        return await Body?.transformToString();
      } catch (error) {
        if ((error as Error).cause instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
  };
}

const verbs: Record<string, string> = { PutObjectCommand: "written", DeleteObjectsCommand: "removed" };

/**
 * A client configured by the environment: AWS's own variables, S3_ENDPOINT and S3_FORCE_PATH_STYLE for other providers, and
 * S3_REGION, which the report service uses as well. Its errors read `s3://bucket/key cannot be read: AccessDenied.`
 */
function createClient(location: string): S3Client {
  const { S3_ENDPOINT, S3_REGION, S3_FORCE_PATH_STYLE } = process.env;
  const client = new S3Client({
    ...(S3_ENDPOINT ? { endpoint: S3_ENDPOINT } : {}),
    ...(S3_REGION ? { region: S3_REGION } : {}),
    forcePathStyle: S3_FORCE_PATH_STYLE === "true",
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const describeErrors =
    <Input extends object, Output>(
      next: (args: { input: Input }) => Promise<Output>,
      { commandName = "" }: { commandName?: string },
    ) =>
    (args: { input: Input }) =>
      next(args).catch((cause: Error & { code?: string; Code?: string }) => {
        const { Bucket, Key } = args.input as { Bucket?: string; Key?: string };
        const address = Key === undefined ? location : `s3://${Bucket}/${Key}`;
        // S3's errors have a Code. Failed connections have the operating system's code.
        const reason = (cause.Code ?? cause.code ?? (cause.message || cause.name)).replace(/\.$/, "");
        throw new Error(`${address} cannot be ${verbs[commandName] ?? "read"}: ${reason}.`, { cause });
      });
  client.middlewareStack.add(describeErrors, { step: "initialize", priority: "high" });
  return client;
}
