import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import type { PublicStore } from "./public-store.ts";
import { createS3Client, nameAddress, parseS3Address } from "./s3-files.ts";

/** Bulk files behind the S3 API. Needs s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket. */
export function openS3PublicStore(location: string): Omit<PublicStore, "makeWorkDirectory"> {
  const { bucket: Bucket, prefix } = parseS3Address(location);
  const client = createS3Client();
  const name = (key: string) => `s3://${Bucket}/${prefix}${key}`;
  const list = async (Prefix: string, Delimiter?: string) => {
    const keys: string[] = [];
    const prefixes: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const command = new ListObjectsV2Command({ Bucket, Prefix, Delimiter, ContinuationToken });
      const page = await nameAddress(location, "read", client.send(command));
      keys.push(...(page.Contents ?? []).map(({ Key = "" }) => Key));
      prefixes.push(...(page.CommonPrefixes ?? []).map(({ Prefix: found = "" }) => found));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    return { keys, prefixes };
  };
  return {
    put: async (key, file, ContentType) => {
      const { size: ContentLength } = await stat(file);
      const Body = createReadStream(file);
      const command = new PutObjectCommand({ Bucket, Key: prefix + key, Body, ContentLength, ContentType });
      await nameAddress(name(key), "written", client.send(command));
    },
    putText: async (key, Body) => {
      const command = new PutObjectCommand({
        Bucket,
        Key: prefix + key,
        Body,
        ContentType: "application/json",
      });
      await nameAddress(name(key), "written", client.send(command));
    },
    readText: async (key) => {
      try {
        const command = new GetObjectCommand({ Bucket, Key: prefix + key });
        const { Body } = await nameAddress(name(key), "read", client.send(command));
        return await Body?.transformToString();
      } catch (error) {
        if (error instanceof Error && error.cause instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    listFolders: async () =>
      (await list(prefix, "/")).prefixes.map((found) => found.slice(prefix.length, -1)),
    removeFolder: async (id) => {
      const { keys } = await list(`${prefix}${id}/`);
      for (let start = 0; start < keys.length; start += 1000) {
        const Objects = keys.slice(start, start + 1000).map((Key) => ({ Key }));
        const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects } });
        await nameAddress(name(id), "removed", client.send(command));
      }
    },
  };
}
