import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { z } from "zod";
import { StorageUnavailable } from "./storage.ts";

const file = {
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
};
/** `manifest.json`, as the refresh writes it. */
const manifest = z.object({
  data_set: z.string().regex(/^[0-9a-f-]{36}$/),
  published_at: z.string(),
  files: z.array(
    z.object({
      ...file,
      name: z.string().regex(/^[a-z0-9_-]+\.(csv\.gz|parquet)$/),
      table: z.string(),
      audit_year: z.string().nullable(),
      format: z.string(),
      rows: z.number(),
    }),
  ),
  changes: z.array(
    z.object({
      ...file,
      name: z.string().regex(/^changes-\d+\.csv\.gz$/),
      from: z.string(),
      to: z.string(),
      published_at: z.coerce.date(),
      added: z.number(),
      changed: z.number(),
      removed: z.number(),
    }),
  ),
});
export type Manifest = z.infer<typeof manifest>;

/** The bulk files of the published data set: on disk or behind the S3 API. */
export interface PublicFiles {
  /** The manifest of the live data set and its text; undefined where there is none. */
  readManifest: () => Promise<{ manifest: Manifest; text: string } | undefined>;
  /** Bytes of a file, the last one included. */
  open: (folder: string, name: string, range: { start: number; end: number }) => Promise<Readable>;
}

export interface PublicFilesOptions {
  region?: string | undefined;
  endpoint?: string | undefined;
  forcePathStyle?: boolean;
  /** By default the AWS standard chain. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

/** @param location a directory, or s3://bucket/prefix */
export function openPublicFiles(location: string, options: PublicFilesOptions = {}): PublicFiles {
  const { readText, open } = location.startsWith("s3://")
    ? openBucket(location, options)
    : openDirectory(path.resolve(location));
  return {
    readManifest: async () => {
      try {
        const text = await readText("manifest.json");
        return text === undefined ? undefined : { manifest: manifest.parse(JSON.parse(text)), text };
      } catch (cause) {
        throw new StorageUnavailable("The manifest of the bulk files cannot be read.", { cause });
      }
    },
    open: async (folder, name, range) => {
      try {
        return await open(`${folder}/${name}`, range);
      } catch (cause) {
        throw new StorageUnavailable(`The bulk file ${name} cannot be read.`, { cause });
      }
    },
  };
}

interface Backend {
  readText: (key: string) => Promise<string | undefined>;
  open: (key: string, range: { start: number; end: number }) => Promise<Readable>;
}

function openDirectory(root: string): Backend {
  return {
    readText: (key) =>
      readFile(path.join(root, key), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    open: async (key, range) => {
      const file = path.join(root, key);
      await stat(file);
      return createReadStream(file, range);
    },
  };
}

function openBucket(
  location: string,
  { region, endpoint, forcePathStyle = false, credentials }: PublicFilesOptions,
): Backend {
  const [, Bucket, folder = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(location) ?? [];
  if (Bucket === undefined) throw new Error(`${location} should be an address such as s3://bucket/prefix.`);
  const prefix = folder === "" ? "" : `${folder}/`;
  // The AWS SDK is large: only who needs it waits for it.
  const load = async () => {
    const sdk = await import("@aws-sdk/client-s3");
    const client: S3Client = new sdk.S3Client({
      forcePathStyle,
      ...(region === undefined ? {} : { region }),
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(credentials === undefined ? {} : { credentials }),
      responseChecksumValidation: "WHEN_REQUIRED",
    });
    return { sdk, client };
  };
  let loaded: ReturnType<typeof load> | undefined;
  const get = async (key: string, Range?: string) => {
    loaded ??= load();
    const { sdk, client } = await loaded;
    return await client.send(new sdk.GetObjectCommand({ Bucket, Key: prefix + key, Range }));
  };
  return {
    readText: async (key) => {
      try {
        return await (await get(key)).Body?.transformToString();
      } catch (error) {
        if ((error as Error).name === "NoSuchKey") return undefined;
        throw error;
      }
    },
    open: async (key, { start, end }) => (await get(key, `bytes=${start}-${end}`)).Body as Readable,
  };
}
