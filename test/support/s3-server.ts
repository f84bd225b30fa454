import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createS3Client } from "../../shared/objects/bucket.ts";
import { hastyLimits } from "../../shared/web/call-storage.ts";

/** A fake S3 server, with the part of the API that the project uses and objects in memory. It verifies signed URLs. */
export interface S3Server {
  port: number;
  /** By key. */
  objects: Map<string, Buffer>;
  /** The requests received, such as `HEAD /bucket/key`, without query strings. */
  requests: string[];
  /** The headers of the last request. */
  received: IncomingHttpHeaders;
  /** Seconds by which the server's clock is ahead. */
  secondsAhead: number;
  /** Never answers requests for this key. */
  hungKey: string | null;
  /** The most requests for it that waited at the same time. */
  mostHung: number;
  /** Sends half of this key's object, and then nothing, so many times. */
  stalled: { key: string; times: number } | null;
  /** Bytes of objects that were sent. */
  bytesSent: number;
  /** Whether it refuses to replace an object if the request says so, as S3 does. */
  hasConditionalWrites: boolean;
  /** Whether the credentials may not write. */
  isReadOnly: boolean;
  /** If set, every response has this status and error code. */
  failure: { status: number; code: string } | null;
  close(): Promise<void>;
}

interface S3ServerOptions {
  accessKeyId: string;
  secretAccessKey: string;
  bucket: string;
  objects?: Record<string, string>;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export async function startS3Server({ bucket, objects = {}, ...keys }: S3ServerOptions): Promise<S3Server> {
  const state: Omit<S3Server, "port" | "close"> = {
    objects: new Map(Object.entries(objects).map(([key, text]) => [key, Buffer.from(text, "latin1")])),
    requests: [],
    received: {},
    secondsAhead: 0,
    hungKey: null,
    mostHung: 0,
    stalled: null,
    bytesSent: 0,
    hasConditionalWrites: true,
    isReadOnly: false,
    failure: null,
  };

  /** Returns undefined if the request gets no response. */
  async function answer(
    { method = "", url = "", headers }: IncomingMessage,
    sent: Buffer,
  ): Promise<Answer | undefined> {
    const { pathname, searchParams, href } = new URL(url, `http://${headers.host}`);
    // In virtual-hosted style, the bucket's name is the first label of the host.
    const path = headers.host?.startsWith(`${bucket}.`) ? `/${bucket}${pathname}` : pathname;
    state.requests.push(`${method} ${path}`);
    if (state.hungKey !== null && path.endsWith(state.hungKey)) return undefined;
    if (state.failure !== null) return fail(state.failure.status, state.failure.code);
    const now = Date.now() + state.secondsAhead * 1000;
    const refusal = await refuse(href, headers.authorization, { ...keys, bucket, now });
    if (refusal !== null) return fail(403, refusal);
    const [, name, encoded = ""] = /^\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    const key = decodeURIComponent(encoded);
    if (name !== bucket) return fail(404, "NoSuchBucket");
    if (method === "PUT") {
      if (state.isReadOnly) return fail(403, "AccessDenied");
      if (state.hasConditionalWrites && headers["if-none-match"] === "*" && state.objects.has(key))
        return fail(412, "PreconditionFailed");
      state.objects.set(key, sent);
      return { status: 200, headers: { etag: etagOf(sent) } };
    }
    if (method === "POST" && searchParams.has("delete")) {
      if (!Object.keys(headers).some((header) => /^(content-md5|x-amz-checksum-.*)$/.test(header)))
        return fail(400, "MissingContentMD5");
      for (const [, removed = ""] of sent.toString().matchAll(/<Key>([^<]+)<\/Key>/g))
        state.objects.delete(removed);
      return { status: 200, body: "<DeleteResult></DeleteResult>" };
    }
    if (method !== "GET" && method !== "HEAD") return fail(405, "MethodNotAllowed");
    if (key === "") return { status: 200, body: listObjects(state.objects, searchParams) };
    const object = state.objects.get(key);
    if (object === undefined) return fail(404, "NoSuchKey");
    const etag = etagOf(object);
    if ((headers["if-match"] ?? etag) !== etag) return fail(412, "PreconditionFailed");
    const [range, start, end] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "") ?? [];
    const answered: Record<string, string> = { etag };
    for (const header of ["content-type", "content-disposition", "cache-control"]) {
      const value = searchParams.get(`response-${header}`);
      if (value !== null) answered[header] = value;
    }
    return range === undefined
      ? { status: 200, headers: answered, body: object }
      : {
          status: 206,
          headers: answered,
          body: object.subarray(Number(start), end === "" ? undefined : Number(end) + 1),
        };
  }

  let hung = 0;
  const server = createServer(async (request, response) => {
    state.received = request.headers;
    const answered = await answer(request, await buffer(request));
    if (answered === undefined) {
      hung += 1;
      state.mostHung = Math.max(state.mostHung, hung);
      response.once("close", () => {
        hung -= 1;
      });
      return;
    }
    const { status, headers = {}, body = "" } = answered;
    const own = {
      date: new Date(Date.now() + state.secondsAhead * 1000).toUTCString(),
      "x-amz-request-id": "1",
      "content-length": Buffer.byteLength(body),
    };
    response.writeHead(status, { ...headers, ...own });
    const { stalled } = state;
    if (request.method !== "GET") return response.end(request.method === "HEAD" ? "" : body);
    state.bytesSent += body.length;
    if (stalled === null || stalled.times === 0 || !request.url?.includes(stalled.key))
      return response.end(body);
    stalled.times -= 1;
    return response.write(body.slice(0, body.length / 2));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(state, {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  });
}

/**
 * Checks that a signed URL is the one that the SDK would sign for the same object and time. For other requests, checks
 * only the access key ID.
 *
 * @returns the error code of S3's 403 response, or null if the request is allowed
 */
async function refuse(
  href: string,
  authorization: string | undefined,
  { bucket, now, ...credentials }: Omit<S3ServerOptions, "objects"> & { now: number },
): Promise<string | null> {
  const { origin, pathname, searchParams } = new URL(href);
  const get = (name: string) => searchParams.get(name) ?? undefined;
  const credential = get("X-Amz-Credential") ?? /Credential=([^,]+)/.exec(authorization ?? "")?.[1];
  if (credential === undefined) return "AccessDenied";
  const [id, , region = ""] = credential.split("/");
  if (id !== credentials.accessKeyId) return "InvalidAccessKeyId";
  if (authorization !== undefined) return null;
  const client = createS3Client(
    { region, endpoint: origin, credentials, forcePathStyle: true, limits: hastyLimits },
    origin,
  );
  const signingDate = new Date((get("X-Amz-Date") ?? "").replace(/^(....)(..)(..T..)(..)/, "$1-$2-$3:$4:"));
  const expiresIn = Number(get("X-Amz-Expires"));
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: decodeURIComponent(pathname.slice(bucket.length + 2)),
    ResponseCacheControl: get("response-cache-control"),
    ResponseContentDisposition: get("response-content-disposition"),
    ResponseContentType: get("response-content-type"),
  });
  const signed = await getSignedUrl(client, command, { signingDate, expiresIn }).catch(() => "");
  if (signed !== href) return "SignatureDoesNotMatch";
  return now < signingDate.getTime() + expiresIn * 1000 ? null : "AccessDenied";
}

/** Lists the objects under a prefix. With a delimiter, keys that continue after it are listed as one common prefix. */
function listObjects(objects: Map<string, Buffer>, query: URLSearchParams): string {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "\0";
  const entries = new Set<string>();
  for (const [key, body] of objects) {
    if (!key.startsWith(prefix)) continue;
    const end = key.indexOf(delimiter, prefix.length) + 1;
    const etag = etagOf(body).replaceAll('"', "&quot;");
    entries.add(
      end > 0
        ? `<CommonPrefixes><Prefix>${key.slice(0, end)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>${etag}</ETag></Contents>`,
    );
  }
  return `<ListBucketResult><IsTruncated>false</IsTruncated>${[...entries].join("")}</ListBucketResult>`;
}

const fail = (status: number, code: string): Answer => ({
  status,
  headers: { "content-type": "application/xml" },
  body: `<Error><Code>${code}</Code></Error>`,
});
const etagOf = (body: Buffer) => `"${createHash("md5").update(body).digest("hex")}"`;
