import { createReadStream } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import { describeReason, readWithLimits, within } from "./limit-reading.ts";
import type { Objects, Range, StorageLimits, StorageOptions } from "./objects.ts";
import { parseBucketUrl } from "./parse-bucket-url.ts";

type Options = StorageOptions & { limits: StorageLimits };

/**
 * Opens s3://bucket/prefix. Needs s3:ListBucket and s3:GetObject (without the former, S3 returns 403 instead of 404 for a
 * file that does not exist); to write, also s3:PutObject and s3:DeleteObject.
 */
export function openBucket(location: string, options: Options): Objects {
  const { limits, signal } = options;
  const { bucket: Bucket, folder } = parseBucketUrl(location);
  const prefix = folder === "" ? "" : `${folder}/`;
  const client = createS3Client(options, location);
  // A connection that hangs would keep the process alive.
  signal?.addEventListener("abort", () => client.destroy());
  const until = (abortSignal = signal) => (abortSignal === undefined ? {} : { abortSignal });

  async function list(Prefix: string, Delimiter?: string) {
    const objects: { Key: string; size: number; ETag: string }[] = [];
    const folders: string[] = [];
    const pages = paginateListObjectsV2({ client }, { Bucket, Prefix, Delimiter }, until());
    for await (const page of pages) {
      for (const { Key = "", Size: size = 0, ETag = "" } of page.Contents ?? [])
        objects.push({ Key, size, ETag });
      for (const found of page.CommonPrefixes ?? [])
        folders.push((found.Prefix ?? "").slice(prefix.length, -1));
    }
    return { objects, folders };
  }
  const openObject = (Key: string, { start, end }: Partial<Range> = {}, IfMatch?: string) => {
    // What is read after a retry must be the rest of the same object.
    let expected = IfMatch;
    return readWithLimits({
      path: `s3://${Bucket}/${Key}`,
      start,
      limits,
      signal,
      openAt: async (first) => {
        const range = first > 0 || end !== undefined ? `bytes=${first}-${end ?? ""}` : undefined;
        const wanted = { Bucket, Key, IfMatch: expected, Range: range };
        const { Body, ETag } = await client.send(new GetObjectCommand(wanted), until());
        expected ??= ETag;
        return Body as Readable;
      },
    });
  };
  const put = (Key: string, more: Partial<PutObjectCommandInput>, sending = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key: prefix + Key, ...more }), { ...until(), ...sending });

  return {
    check: async (abortSignal) => {
      await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
    },
    has: async (key, own) => {
      try {
        await client.send(new HeadObjectCommand({ Bucket, Key: prefix + key }), until(own));
        return true;
      } catch (error) {
        if (!isMissing(error)) throw error;
        await client.send(new HeadBucketCommand({ Bucket }), until(own));
        return false;
      }
    },
    listFiles: async () => {
      const { objects } = await list(prefix, "/");
      return objects.map(({ Key, size, ETag }) => ({
        path: `s3://${Bucket}/${Key}`,
        size,
        // Fails if the object was replaced after it was listed.
        open: () => openObject(Key, {}, ETag),
        identify: async () => `${size} ${ETag}`,
        checkUnchanged: async () => {},
      }));
    },
    listFolders: async () => (await list(prefix, "/")).folders,
    removeFolder: async (name) => {
      const Objects = (await list(`${prefix}${name}/`)).objects.map(({ Key }) => ({ Key }));
      while (Objects.length > 0) {
        const Delete = { Objects: Objects.splice(0, 1000) };
        await client.send(new DeleteObjectsCommand({ Bucket, Delete }), until());
      }
    },
    open: (key, range) => openObject(prefix + key, range),
    readText: async (key) => {
      try {
        const chunks = await (await openObject(prefix + key)).toArray();
        return Buffer.concat(chunks).toString();
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    makeWorkDirectory: () => mkdtemp(path.join(tmpdir(), "public-data-")),
    put: async (key, Body, ContentType) => void (await put(key, { Body, ContentType })),
    putFile: async (key, file, ContentType) => {
      const ContentLength = (await stat(file)).size;
      const giveUpAt = performance.now() + limits.total;
      for (let tries = 1; ; tries += 1) {
        const Body = createReadStream(file);
        const stalled = watchProgress(() => Body.bytesRead, limits.idle, giveUpAt, signal);
        try {
          // The limit of a request would include the time in which the file is sent.
          const sending = { abortSignal: stalled.signal, requestTimeout: 0 };
          return void (await put(key, { Body, ContentType, ContentLength }, sending));
        } catch (error) {
          signal?.throwIfAborted();
          if (tries === limits.tries || performance.now() > giveUpAt || isRefused(error)) throw error;
        } finally {
          stalled.stop();
          Body.destroy();
        }
      }
    },
    close: () => client.destroy(),
  };
}

/** Aborts if a number has not changed for so long, or at the given time. */
function watchProgress(read: () => number, idle: number, giveUpAt: number, signal?: AbortSignal) {
  const stop = new AbortController();
  let [last, changedAt] = [0, performance.now()];
  const timer = setInterval(() => {
    const now = performance.now();
    if (read() !== last) [last, changedAt] = [read(), now];
    if (now - changedAt > idle || now > giveUpAt)
      stop.abort(new Error(`storage accepted nothing for ${Math.round(now - changedAt) / 1000} s`));
  }, idle / 10);
  return {
    signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
    stop: () => clearInterval(timer),
  };
}

const statusOf = (error: unknown) => {
  const { $metadata } = (error as Error).cause as { $metadata?: { httpStatusCode?: number } };
  return $metadata?.httpStatusCode ?? 0;
};
const isRefused = (error: unknown) =>
  statusOf(error) >= 400 && statusOf(error) < 500 && statusOf(error) !== 429;
/** A HEAD response has no body, so its code is NotFound even if the bucket is missing. */
const isMissing = (error: unknown) =>
  ["NoSuchKey", "NotFound"].includes(((error as Error).cause as Error | undefined)?.name ?? "");

const verbs: Record<string, string> = { PutObjectCommand: "written", DeleteObjectsCommand: "removed" };

/** Creates a client that limits every request, and whose errors read `s3://bucket/key cannot be read: AccessDenied.` */
export function createS3Client(
  { region, endpoint, forcePathStyle = false, credentials, limits, signal }: Options,
  location: string,
): S3Client {
  const client = new S3Client({
    forcePathStyle,
    ...(region && { region }),
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials }),
    maxAttempts: limits.tries,
    requestHandler: {
      connectionTimeout: limits.connect,
      requestTimeout: limits.answer,
      throwOnRequestTimeout: true,
      // A request that hangs holds its connection. With the default of 50, none might be left for others.
      httpAgent: { maxSockets: 1000 },
      httpsAgent: { maxSockets: 1000 },
    },
    // Many S3-compatible servers do not support the checksums that the SDK sends by default.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const limitRequest =
    <Input extends object, Output>(
      next: (args: { input: Input }) => Promise<Output>,
      { commandName = "" }: { commandName?: string },
    ) =>
    (args: { input: Input }) => {
      // The SDK limits how long headers may take, but not the body of a list or an error.
      const limit =
        commandName === "PutObjectCommand" ? limits.total : limits.tries * (limits.connect + limits.answer);
      return within(limit, next(args), signal).catch((cause: unknown) => {
        signal?.throwIfAborted();
        const { Bucket, Key } = args.input as { Bucket?: string; Key?: string };
        const address = Key === undefined ? location : `s3://${Bucket}/${Key}`;
        const verb = verbs[commandName] ?? "read";
        throw new Error(`${address} cannot be ${verb}: ${describeReason(cause)}.`, { cause });
      });
    };
  client.middlewareStack.add(limitRequest, { step: "initialize", priority: "high" });
  return client;
}
