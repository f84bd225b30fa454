import { createReadStream } from "node:fs";
import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from "@aws-sdk/client-s3";
import type { Objects, Range, StorageLimits, StorageOptions } from "./objects.ts";
import { describeReason, readWithRetries, within } from "./read-with-retries.ts";

type Options = StorageOptions & { limits: StorageLimits };

/**
 * Opens s3://bucket/prefix. Needs s3:ListBucket and s3:GetObject (without the former, S3 returns 403 instead of 404 for a
 * file that does not exist); to write, also s3:PutObject and s3:DeleteObject.
 *
 * `time()` is storage's time at its last successful response, in whole seconds.
 *
 * @throws Error if the URL does not name a bucket
 */
export function openBucket(location: string, options: Options): Objects & { time(): Date } {
  const { limits, signal } = options;
  const [, Bucket, folder = ""] = /^s3:\/\/([^/]+)\/?(.*?)\/?$/.exec(location) ?? [];
  if (Bucket === undefined) throw new Error(`${location} does not name a bucket. Write s3://bucket/prefix.`);
  const prefix = folder === "" ? "" : `${folder}/`;
  const client = createS3Client(options, location);
  // A connection that hangs would keep the process alive.
  signal?.addEventListener("abort", () => client.destroy());
  let storageTime: Date | undefined;
  client.middlewareStack.add(
    (next) => async (args) => {
      const answered = await next(args);
      const { headers } = answered.response as { headers: Record<string, string | undefined> };
      if (headers.date !== undefined) storageTime = new Date(headers.date);
      return answered;
    },
    { step: "deserialize" },
  );

  /** Lists the objects whose keys begin with a prefix, and the folders below it if there is a delimiter. */
  async function list(Prefix: string, Delimiter?: string) {
    const objects: { Key: string; size: number; ETag: string }[] = [];
    const folders: string[] = [];
    for await (const page of paginateListObjectsV2(
      { client },
      { Bucket, Prefix, Delimiter },
      until(signal),
    )) {
      for (const { Key = "", Size: size = 0, ETag = "" } of page.Contents ?? [])
        objects.push({ Key, size, ETag });
      for (const found of page.CommonPrefixes ?? [])
        folders.push((found.Prefix ?? "").slice(prefix.length, -1));
    }
    return { objects, folders };
  }

  function open(Key: string, { start, end }: Partial<Range> = {}, IfMatch?: string): Promise<Readable> {
    // What is read after a retry must be the rest of the same object.
    let expected = IfMatch;
    const openAt = async (first: number) => {
      const range = first > 0 || end !== undefined ? `bytes=${first}-${end ?? ""}` : undefined;
      const wanted = { Bucket, Key, IfMatch: expected, Range: range };
      const { Body, ETag } = await client.send(new GetObjectCommand(wanted), until(signal));
      expected ??= ETag;
      return Body as Readable;
    };
    return readWithRetries({ path: `s3://${Bucket}/${Key}`, start, limits, signal, openAt });
  }

  /** Sends a file once. Gives up if storage accepts nothing for a while. */
  async function sendFile(Key: string, file: string, giveUp: AbortSignal) {
    const stop = new AbortController();
    const stall = () => stop.abort(new Error(`storage accepted nothing for ${limits.idle / 1000} s`));
    const timer = setTimeout(stall, limits.idle);
    async function* read() {
      for await (const chunk of createReadStream(file)) {
        timer.refresh();
        yield chunk;
      }
    }
    const ContentLength = (await stat(file)).size;
    const input = { Bucket, Key, Body: Readable.from(read()), ContentLength };
    const signals = [stop.signal, giveUp, ...(signal ? [signal] : [])];
    try {
      // The limit of a request would include the time in which the file is sent.
      const sending = { abortSignal: AbortSignal.any(signals), requestTimeout: 0 };
      await client.send(new PutObjectCommand(input), sending);
    } finally {
      clearTimeout(timer);
      input.Body.destroy();
    }
  }

  return {
    time: () => storageTime ?? new Date(),
    check: async (abortSignal) => {
      await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
    },
    has: async (key, own = signal) => {
      try {
        await client.send(new HeadObjectCommand({ Bucket, Key: prefix + key }), until(own));
        return true;
      } catch (error) {
        if (!isMissing(error)) throw error;
        await client.send(new HeadBucketCommand({ Bucket }), until(own));
        return false;
      }
    },
    listFiles: async (ending = /$/) =>
      (await list(prefix, "/")).objects
        .filter(({ Key }) => ending.test(Key))
        .map(({ Key, size, ETag }) => ({
          path: `s3://${Bucket}/${Key}`,
          size,
          // Fails if the object was replaced after it was listed.
          open: () => open(Key, {}, ETag),
          identify: async () => `${size} ${ETag}`,
          checkUnchanged: async () => {},
        })),
    listFolders: async () => (await list(prefix, "/")).folders,
    removeFolder: async (name) => {
      const Objects = (await list(`${prefix}${name}/`)).objects.map(({ Key }) => ({ Key }));
      while (Objects.length > 0) {
        const Delete = { Objects: Objects.splice(0, 1000) };
        await client.send(new DeleteObjectsCommand({ Bucket, Delete }), until(signal));
      }
    },
    open: (key, range) => open(prefix + key, range),
    readText: async (key) => {
      try {
        return Buffer.concat(await (await open(prefix + key)).toArray()).toString();
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    makeWorkDirectory: () => mkdtemp(path.join(tmpdir(), "public-data-")),
    put: async (key, Body) => {
      await client.send(new PutObjectCommand({ Bucket, Key: prefix + key, Body }), until(signal));
    },
    putFile: async (key, file) => {
      const giveUp = AbortSignal.timeout(limits.total);
      for (let tries = 1; ; tries += 1) {
        try {
          return await sendFile(prefix + key, file, giveUp);
        } catch (error) {
          signal?.throwIfAborted();
          if (tries === limits.tries || giveUp.aborted || isRefused(error)) throw error;
        }
      }
    },
    create: async (key, Body) => {
      const input = { Bucket, Key: prefix + key, Body, IfNoneMatch: "*" };
      try {
        await client.send(new PutObjectCommand(input), until(signal));
        return true;
      } catch (error) {
        if (![409, 412].includes(statusOf(error))) throw error;
        return false;
      }
    },
    close: () => client.destroy(),
  };
}

const until = (abortSignal: AbortSignal | undefined) => (abortSignal === undefined ? {} : { abortSignal });

const statusOf = (error: unknown) => {
  const cause = (error as Error).cause as { $metadata?: { httpStatusCode?: number } } | undefined;
  return cause?.$metadata?.httpStatusCode ?? 0;
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
