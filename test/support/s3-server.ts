import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createS3Client } from "../../report-service/s3-store.ts";

/** As much of the S3 API as the project uses, over objects in memory. Signed URLs and hashes are verified. */
export interface S3Server {
  port: number;
  /** By key. */
  objects: Map<string, Buffer>;
  /** What was asked, such as `HEAD /bucket/key`, without the query. */
  requests: string[];
  /** Moves the server's clock. */
  secondsAhead: number;
  /** Never answers requests for this key. */
  hungKey: string | null;
  /** Answers every request with this status and error code, whatever it asks for. */
  failure: { status: number; code: string } | null;
  close(): Promise<void>;
}

export interface S3ServerOptions {
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
    secondsAhead: 0,
    hungKey: null,
    failure: null,
  };

  async function answer(
    { method = "", url: target = "", headers }: IncomingMessage,
    content: Buffer,
  ): Promise<Answer> {
    const url = new URL(target, "http://s3");
    // Virtual-hosted style: the bucket is the first part of the host.
    const isVirtual = headers.host?.startsWith(`${bucket}.`) === true;
    const path = `${isVirtual ? `/${bucket}` : ""}${url.pathname}`;
    state.requests.push(`${method} ${isVirtual ? "(virtual) " : ""}${path}`);
    if (state.hungKey !== null && path.endsWith(state.hungKey)) await new Promise(() => {});
    if (state.failure !== null) return fail(state.failure.status, state.failure.code);
    const now = Date.now() + state.secondsAhead * 1000;
    const refusal = await refuse({ url: target, headers }, { ...keys, bucket, now });
    if (refusal !== null) return fail(403, refusal);
    const claimed = headers["x-amz-content-sha256"];
    if (claimed !== undefined && claimed !== "UNSIGNED-PAYLOAD" && claimed !== hash("sha256", content))
      return fail(400, "XAmzContentSHA256Mismatch");
    const [, name, encoded = ""] = /^\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    const key = decodeURIComponent(encoded);
    if (name !== bucket) return fail(404, "NoSuchBucket");
    if (method === "PUT") {
      state.objects.set(key, content);
      return { status: 200, headers: { etag: etagOf(content) } };
    }
    if (method === "POST" && url.searchParams.has("delete")) {
      if (headers["content-md5"] === undefined && !Object.keys(headers).some(isChecksum))
        return fail(400, "MissingContentMD5");
      for (const [, removed = ""] of content.toString().matchAll(/<Key>([^<]+)<\/Key>/g))
        state.objects.delete(removed);
      return { status: 200, body: '<?xml version="1.0"?><DeleteResult></DeleteResult>' };
    }
    if (method !== "GET" && method !== "HEAD") return fail(405, "MethodNotAllowed");
    if (key === "") {
      if (!url.searchParams.has("list-type")) return { status: 200 };
      return {
        status: 200,
        body: listObjects(
          state.objects,
          url.searchParams.get("prefix") ?? "",
          url.searchParams.get("delimiter"),
        ),
      };
    }
    const object = state.objects.get(key);
    if (object === undefined) return fail(404, "NoSuchKey");
    if (headers["if-match"] !== undefined && headers["if-match"] !== etagOf(object))
      return fail(412, "PreconditionFailed");
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
    return {
      status: start === undefined ? 200 : 206,
      headers: {
        etag: etagOf(object),
        "content-type": url.searchParams.get("response-content-type") ?? "binary/octet-stream",
        ...override(url, "content-disposition"),
        ...override(url, "cache-control"),
      },
      body: start === undefined ? object : object.subarray(Number(start), Number(end) + 1),
    };
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { status, headers = {}, body = "" } = await answer(request, Buffer.concat(chunks));
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
    response.end(request.method === "HEAD" ? "" : body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The S3 server has no port.");
  return Object.assign(state, {
    port: address.port,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  });
}

/**
 * Compares a signed URL with the one that the SDK signs for the same object, time and headers. Of other requests, only the
 * access key is verified.
 *
 * @returns the error code with which S3 answers 403
 */
async function refuse(
  { url: target = "", headers }: Pick<IncomingMessage, "url" | "headers">,
  {
    bucket,
    now,
    ...credentials
  }: Pick<S3ServerOptions, "accessKeyId" | "secretAccessKey" | "bucket"> & { now: number },
): Promise<string | null> {
  const url = new URL(target, `http://${headers.host}`);
  const get = (name: string) => url.searchParams.get(name) ?? undefined;
  const credential = get("X-Amz-Credential") ?? /Credential=([^,]+)/.exec(headers.authorization ?? "")?.[1];
  if (credential === undefined) return "AccessDenied";
  const [id, , region = ""] = credential.split("/");
  if (id !== credentials.accessKeyId) return "InvalidAccessKeyId";
  if (headers.authorization !== undefined) return null;
  const isVirtual = url.host.startsWith(`${bucket}.`);
  const endpoint = url.origin.replace(`//${bucket}.`, "//");
  const client = createS3Client({ region, endpoint, credentials, forcePathStyle: !isVirtual });
  const signingDate = new Date((get("X-Amz-Date") ?? "").replace(/^(....)(..)(..T..)(..)/, "$1-$2-$3:$4:"));
  const expiresIn = Number(get("X-Amz-Expires"));
  const command = new GetObjectCommand({
    Bucket: bucket,
    Key: decodeURIComponent(isVirtual ? url.pathname.slice(1) : url.pathname.slice(bucket.length + 2)),
    ResponseCacheControl: get("response-cache-control"),
    ResponseContentDisposition: get("response-content-disposition"),
    ResponseContentType: get("response-content-type"),
  });
  const signed = await getSignedUrl(client, command, { signingDate, expiresIn }).catch(() => "");
  if (signed !== url.href) return "SignatureDoesNotMatch";
  return now < signingDate.getTime() + expiresIn * 1000 ? null : "AccessDenied";
}

function listObjects(objects: Map<string, Buffer>, prefix: string, delimiter: string | null): string {
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
  const isDirect = (key: string) => delimiter === null || !key.slice(prefix.length).includes(delimiter);
  const folders = keys
    .filter((key) => !isDirect(key))
    .map((key) => key.slice(0, key.indexOf(delimiter ?? "", prefix.length) + 1));
  const contents = keys.filter(isDirect).map((key) => {
    const body = objects.get(key) ?? Buffer.alloc(0);
    const etag = etagOf(body).replaceAll('"', "&quot;");
    return `<Contents><Key>${key}</Key><Size>${body.length}</Size><ETag>${etag}</ETag></Contents>`;
  });
  const prefixes = [...new Set(folders)].map(
    (folder) => `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`,
  );
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents.join("")}${prefixes.join("")}</ListBucketResult>`;
}

function fail(status: number, code: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body };
}

function override(url: URL, header: string): Record<string, string> {
  const value = url.searchParams.get(`response-${header}`);
  return value === null ? {} : { [header]: value };
}

const isChecksum = (header: string) => header.startsWith("x-amz-checksum-");
const etagOf = (body: Buffer) => `"${hash("md5", body)}"`;

function hash(algorithm: string, body: Buffer): string {
  return createHash(algorithm).update(body).digest("hex");
}
