import { type Agent, request } from "node:http";

export interface Reply {
  status: number;
  /** Without those that say nothing about the answer: date, connection, keep-alive. */
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** What a request is known by that names no other X-Request-Id. */
const requestId = "a-test";

/** Sends a request whose target is taken as it is: nothing is normalised, no redirect is followed. */
export async function send(
  base: string,
  target: string,
  options: { method?: string; headers?: Record<string, string>; agent?: Agent } = {},
): Promise<Reply> {
  const { hostname, port } = new URL(base);
  const headers = { "x-request-id": requestId, ...options.headers };
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path: target, ...options, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const { date, connection, "keep-alive": keepAlive, ...rest } = incoming.headers;
        resolve({
          status: incoming.statusCode ?? 0,
          headers: rest,
          body: Buffer.concat(chunks).toString("latin1"),
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}
