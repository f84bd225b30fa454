import { Agent } from "undici";

export interface Reply {
  status: number;
  /** Without those that say nothing about the answer: date, connection, keep-alive. */
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const agent = new Agent({ connections: 256, headersTimeout: 30_000 });

/** Sends a request whose target is taken as it is: nothing is normalized, no redirect is followed. */
export async function send(
  base: string,
  target: string,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const response = await agent.request({
    origin: new URL(base).origin,
    path: target,
    method: method as "GET",
    headers: { "x-request-id": "a-test", ...headers },
    reset: true,
  });
  const { date, connection, "keep-alive": keepAlive, ...rest } = response.headers;
  const body = Buffer.from(await response.body.arrayBuffer()).toString("latin1");
  return { status: response.statusCode, headers: rest, body };
}

/** Sends a request to where an answer redirects. */
export function follow({ headers }: Reply, base?: string): Promise<Reply> {
  const { origin, pathname, search } = new URL(String(headers.location), base);
  return send(origin, pathname + search);
}
