import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { verifySigV4 } from "./verify-sigv4.ts";

/** As much of the S3 API as the report service needs, over objects in memory. Signatures and expiry are verified. */
export interface S3Server {
  port: number;
  /** What was asked, such as `HEAD /bucket/key`, without the query. */
  requests: string[];
  /** Moves the server's clock. */
  secondsAhead: number;
  /** Answers every request with this status and error code, in place of what it asks for. */
  failure: { status: number; code: string } | null;
  close(): Promise<void>;
}

export interface S3ServerOptions {
  accessKeyId: string;
  secretAccessKey: string;
  bucket: string;
  /** By key. */
  objects: Record<string, string>;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export async function startS3Server({ bucket, objects, ...keys }: S3ServerOptions): Promise<S3Server> {
  const state: Pick<S3Server, "requests" | "secondsAhead" | "failure"> = {
    requests: [],
    secondsAhead: 0,
    failure: null,
  };

  function answer({ method = "", url: target = "", headers }: IncomingMessage): Answer {
    const url = new URL(target, "http://s3");
    // Virtual-hosted style: the bucket is the first part of the host.
    const isVirtual = headers.host?.startsWith(`${bucket}.`) === true;
    const path = `${isVirtual ? `/${bucket}` : ""}${url.pathname}`;
    state.requests.push(`${method} ${isVirtual ? "(virtual) " : ""}${path}`);
    if (state.failure !== null) return fail(state.failure.status, state.failure.code);
    const now = Date.now() + state.secondsAhead * 1000;
    const refusal = verifySigV4({ method, target, headers }, { ...keys, now });
    if (refusal !== null) return fail(403, refusal);
    if (method !== "GET" && method !== "HEAD") return fail(405, "MethodNotAllowed");
    const [, name, key] = /^\/([^/]+)(?:\/(.*))?$/.exec(path) ?? [];
    if (name !== bucket) return fail(404, "NoSuchBucket");
    if (!key) return { status: 200, headers: {}, body: "" };
    const body = objects[key];
    if (body === undefined) return fail(404, "NoSuchKey");
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
    return {
      status: first === undefined ? 200 : 206,
      headers: {
        "content-type": url.searchParams.get("response-content-type") ?? "binary/octet-stream",
        ...override(url, "content-disposition"),
        ...override(url, "cache-control"),
      },
      body: first === undefined ? body : body.slice(Number(first), Number(last) + 1),
    };
  }

  const server = createServer((request, response) => {
    const { status, headers, body } = answer(request);
    response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body, "latin1") });
    response.end(request.method === "HEAD" ? "" : body, "latin1");
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

function fail(status: number, code: string): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code></Error>`;
  return { status, headers: { "content-type": "application/xml" }, body };
}

function override(url: URL, header: string): Record<string, string> {
  const value = url.searchParams.get(`response-${header}`);
  return value === null ? {} : { [header]: value };
}
