import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

/** A request as it is sent: each character is one byte. */
export interface WireRequest {
  method: string;
  /** Path and query string, sent unchanged. */
  path: string;
  headers: [name: string, value: string][];
  body?: string | undefined;
}

export interface WireAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 400 });

/**
 * Sends a request, even one that ordinary clients refuse to send, and reads the whole response. Retries if the server
 * has closed a reused connection.
 *
 * @param timeout milliseconds after which a request without a response fails
 * @throws Error if there is no response
 */
export async function sendRequest(
  origin: string,
  { method, path, headers, body }: WireRequest,
  timeout = 75_000,
): Promise<WireAnswer> {
  const { hostname: host, port } = new URL(origin);
  // Has no prototype, because a header may be named toString.
  const lines: Record<string, string[]> = Object.create(null);
  for (const [name, value] of headers) lines[name] = [...(lines[name] ?? []), value];
  if (body !== undefined) lines["content-length"] = [String(body.length)];
  for (;;) {
    const outgoing = request({ agent, host, port, method, path, headers: lines, maxHeaderSize: 1 << 18 });
    outgoing.setTimeout(timeout, () => outgoing.destroy(new Error(`No response within ${timeout} ms.`)));
    try {
      return await new Promise((resolve, reject) => {
        outgoing.on("error", reject);
        outgoing.on("response", (incoming) => readAnswer(incoming).then(resolve, reject));
        outgoing.end(body === undefined ? undefined : Buffer.from(body, "latin1"));
      });
    } catch (error) {
      if (!outgoing.reusedSocket || (error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
    }
  }
}

const decompress: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  deflate: inflateSync,
};

async function readAnswer(incoming: IncomingMessage): Promise<WireAnswer> {
  const bytes = await buffer(incoming);
  const decode = bytes.length > 0 ? decompress[incoming.headers["content-encoding"] ?? ""] : undefined;
  const body = (decode?.(bytes) ?? bytes).toString("utf8");
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, body };
}
