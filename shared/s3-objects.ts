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
import type { Objects, Range, StorageLimits, StorageOptions, StoredFile } from "./objects.ts";
import { parseBucketUrl } from "./parse-bucket-url.ts";

type Options = StorageOptions & { limits: StorageLimits };

/** An open bucket. */
interface Connection {
  client: S3Client;
  bucket: string;
  /** Comes before the keys of all objects: empty, or ends with a slash. */
  prefix: string;
  limits: StorageLimits;
  signal: AbortSignal | undefined;
}

/**
 * Opens s3://bucket/prefix. Needs s3:ListBucket and s3:GetObject (without the former, S3 returns 403 instead of 404 for a
 * file that does not exist); to write, also s3:PutObject and s3:DeleteObject.
 */
export function openBucket(location: string, options: Options): Objects {
  const { limits, signal } = options;
  const { bucket, folder } = parseBucketUrl(location);
  const prefix = folder === "" ? "" : `${folder}/`;
  const client = createS3Client(options, location);
  // A connection that hangs would keep the process alive.
  signal?.addEventListener("abort", () => client.destroy());
  const connection: Connection = { client, bucket, prefix, limits, signal };
  return {
    check: async (abortSignal) => {
      await client.send(new HeadBucketCommand({ Bucket: bucket }), { abortSignal });
    },
    has: (key, own) => hasObject(connection, key, own),
    listFiles: () => listFiles(connection),
    listFolders: async () => (await list(connection, prefix, "/")).folders,
    removeFolder: (name) => removeFolder(connection, name),
    open: (key, range) => openObject(connection, prefix + key, range),
    readText: (key) => readText(connection, key),
    makeWorkDirectory: () => mkdtemp(path.join(tmpdir(), "public-data-")),
    put: async (key, Body, ContentType) => void (await put(connection, key, { Body, ContentType })),
    putFile: (key, file, ContentType) => putFile(connection, key, file, ContentType),
    close: () => client.destroy(),
  };
}

const until = (abortSignal: AbortSignal | undefined) => (abortSignal === undefined ? {} : { abortSignal });

async function hasObject({ client, bucket: Bucket, prefix, signal }: Connection, key: string, own = signal) {
  try {
    await client.send(new HeadObjectCommand({ Bucket, Key: prefix + key }), until(own));
    return true;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await client.send(new HeadBucketCommand({ Bucket }), until(own));
    return false;
  }
}

/** Lists the objects whose keys begin with a prefix, and the folders below it if there is a delimiter. */
async function list(
  { client, bucket: Bucket, prefix, signal }: Connection,
  Prefix: string,
  Delimiter?: string,
) {
  const objects: { Key: string; size: number; ETag: string }[] = [];
  const folders: string[] = [];
  const pages = paginateListObjectsV2({ client }, { Bucket, Prefix, Delimiter }, until(signal));
  for await (const page of pages) {
    for (const { Key = "", Size: size = 0, ETag = "" } of page.Contents ?? [])
      objects.push({ Key, size, ETag });
    for (const found of page.CommonPrefixes ?? [])
      folders.push((found.Prefix ?? "").slice(prefix.length, -1));
  }
  return { objects, folders };
}

async function listFiles(connection: Connection): Promise<StoredFile[]> {
  const { objects } = await list(connection, connection.prefix, "/");
  return objects.map(({ Key, size, ETag }) => ({
    path: `s3://${connection.bucket}/${Key}`,
    size,
    // Fails if the object was replaced after it was listed.
    open: () => openObject(connection, Key, {}, ETag),
    identify: async () => `${size} ${ETag}`,
    checkUnchanged: async () => {},
  }));
}

async function removeFolder(connection: Connection, name: string): Promise<void> {
  const { client, bucket: Bucket, prefix, signal } = connection;
  const Objects = (await list(connection, `${prefix}${name}/`)).objects.map(({ Key }) => ({ Key }));
  while (Objects.length > 0) {
    const Delete = { Objects: Objects.splice(0, 1000) };
    await client.send(new DeleteObjectsCommand({ Bucket, Delete }), until(signal));
  }
}

function openObject(
  { client, bucket: Bucket, limits, signal }: Connection,
  Key: string,
  { start, end }: Partial<Range> = {},
  IfMatch?: string,
): Promise<Readable> {
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
      const { Body, ETag } = await client.send(new GetObjectCommand(wanted), until(signal));
      expected ??= ETag;
      return Body as Readable;
    },
  });
}

async function readText(connection: Connection, key: string): Promise<string | undefined> {
  try {
    const chunks = await (await openObject(connection, connection.prefix + key)).toArray();
    return Buffer.concat(chunks).toString();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const put = (
  { client, bucket: Bucket, prefix, signal }: Connection,
  key: string,
  more: Partial<PutObjectCommandInput>,
  sending = {},
) =>
  client.send(new PutObjectCommand({ Bucket, Key: prefix + key, ...more }), { ...until(signal), ...sending });

/** Writes a file to an object. Tries again if storage fails or accepts nothing for a while, but not if it refuses. */
async function putFile(
  connection: Connection,
  key: string,
  file: string,
  ContentType: string,
): Promise<void> {
  const { limits, signal } = connection;
  const ContentLength = (await stat(file)).size;
  const giveUpAt = performance.now() + limits.total;
  for (let tries = 1; ; tries += 1) {
    const Body = createReadStream(file);
    const stalled = watchProgress(() => Body.bytesRead, limits.idle, giveUpAt, signal);
    try {
      // The limit of a request would include the time in which the file is sent.
      const sending = { abortSignal: stalled.signal, requestTimeout: 0 };
      return void (await put(connection, key, { Body, ContentType, ContentLength }, sending));
    } catch (error) {
      signal?.throwIfAborted();
      if (tries === limits.tries || performance.now() > giveUpAt || isRefused(error)) throw error;
    } finally {
      stalled.stop();
      Body.destroy();
    }
  }
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
