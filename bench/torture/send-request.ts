import { Agent, type IncomingMessage, request } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** A request as it goes over the wire: a character is a byte. */
export interface WireRequest {
  method: string;
  /** Path and query, sent as they are. */
  path: string;
  headers: [name: string, value: string][];
  body?: string | undefined;
}

export interface WireAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

export interface SendOptions {
  /** Local address to send from. */
  localAddress?: string | undefined;
  /** Milliseconds after which no answer is an answer. */
  patience?: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 400 });
const defaultPatience = 75_000;

/**
 * Sends a request and reads its answer to the end. A kept connection that the server has closed meanwhile is none of its
 * faults: then a new one is tried.
 *
 * @throws Error if there is no answer
 */
export async function sendRequest(
  origin: string,
  wire: WireRequest,
  options: SendOptions = {},
): Promise<WireAnswer> {
  for (;;) {
    const attempt = await tryToSend(origin, wire, options);
    if ("status" in attempt) return attempt;
    if (!attempt.wasReused) throw attempt.error;
  }
}

function tryToSend(
  origin: string,
  { method, path, headers, body }: WireRequest,
  { localAddress, patience = defaultPatience }: SendOptions,
): Promise<WireAnswer | { error: Error; wasReused: boolean }> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    // Without a prototype, since a header may be called toString.
    const lines: Record<string, string[]> = Object.create(null);
    for (const [name, value] of headers) lines[name] = [...(lines[name] ?? []), value];
    if (body !== undefined) lines["content-length"] = [String(body.length)];
    const outgoing = request({
      agent,
      host: hostname,
      port,
      method,
      path,
      headers: lines,
      ...(localAddress === undefined ? {} : { localAddress }),
      maxHeaderSize: 1 << 18,
    });
    const fail = (error: Error & { code?: string }) =>
      resolve({ error, wasReused: outgoing.reusedSocket && error.code === "ECONNRESET" });
    outgoing.setTimeout(patience, () => outgoing.destroy(new Error(`No answer within ${patience} ms.`)));
    outgoing.on("error", fail);
    outgoing.on("response", (incoming) => readAnswer(incoming).then(resolve, fail));
    outgoing.end(body === undefined ? undefined : Buffer.from(body, "latin1"));
  });
}

async function readAnswer(incoming: IncomingMessage): Promise<WireAnswer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const bytes = raw.length === 0 ? raw : decompress(raw, String(incoming.headers["content-encoding"] ?? ""));
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes.toString("utf8") };
}

function decompress(bytes: Buffer, encoding: string): Buffer {
  if (encoding === "gzip") return gunzipSync(bytes);
  if (encoding === "br") return brotliDecompressSync(bytes);
  if (encoding === "deflate") return inflateSync(bytes);
  return bytes;
}
