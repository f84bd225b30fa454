import { open, readFile } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type { S3Client } from "@aws-sdk/client-s3";
import { parseBucketUrl } from "../service/parse-bucket-url.ts";
import type { S3Options } from "./storage.ts";
import { callStorage } from "./storage.ts";

export interface PublicFile {
  name: string;
  bytes: number;
  sha256: string;
}

/** The parts of the refresh's `manifest.json` that this service reads. */
export interface Manifest {
  data_set: string;
  published_at: string;
  files: (PublicFile & { table: string; audit_year: string | null; format: string; rows: number })[];
  changes: PublicFile[];
}

export interface Range {
  start: number;
  /** Inclusive. */
  end: number;
}

/** The bulk files of the published data set. Both methods return, or throw StorageUnavailable, within 3 s. */
export interface PublicFiles {
  /** Reads the live data set's manifest, parsed and as text. Returns undefined if there is none. */
  readManifest: () => Promise<{ manifest: Manifest; text: string } | undefined>;
  open: (folder: string, name: string, range: Range) => Promise<Readable>;
}

/** @param location a directory, or s3://bucket/prefix */
export function openPublicFiles(location: string, options: S3Options = {}): PublicFiles {
  const { readText, open } = location.startsWith("s3://")
    ? openBucket(location, options)
    : openDirectory(path.resolve(location));
  return {
    readManifest: () =>
      callStorage("the manifest of the bulk files", async () => {
        const text = await readText("manifest.json");
        return text === undefined ? undefined : { manifest: JSON.parse(text) as Manifest, text };
      }),
    open: (folder, name, range) =>
      callStorage(`the bulk file ${name}`, () => open(`${folder}/${name}`, range)),
  };
}

interface Backend {
  /** Returns undefined if there is no such file. */
  readText: (key: string) => Promise<string | undefined>;
  open: (key: string, range: Range) => Promise<Readable>;
}

function openDirectory(root: string): Backend {
  return {
    readText: (key) =>
      readFile(path.join(root, key), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      }),
    open: async (key, range) => (await open(path.join(root, key))).createReadStream(range),
  };
}

function openBucket(location: string, options: S3Options): Backend {
  const { bucket: Bucket, folder } = parseBucketUrl(location);
  let client: Promise<S3Client> | undefined;
  const get = async (key: string, Range?: string) => {
    // The AWS SDK is large, so it is loaded only where it is used.
    client ??= import("./s3-store.ts").then(({ createS3Client }) => createS3Client(options));
    const { GetObjectCommand } = await import("@aws-sdk/client-s3");
    const Key = folder === "" ? key : `${folder}/${key}`;
    return (await (await client).send(new GetObjectCommand({ Bucket, Key, Range }))).Body;
  };
  return {
    readText: async (key) => {
      const body = await get(key).catch((error: Error) => {
        if (error.name !== "NoSuchKey") throw error;
      });
      return await body?.transformToString();
    },
    open: async (key, { start, end }) => (await get(key, `bytes=${start}-${end}`)) as Readable,
  };
}
