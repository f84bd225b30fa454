import { send as sendRequest } from "../support/target.ts";

export interface Reply {
  status: number;
  /** Without those that differ each time. */
  headers: Record<string, string | string[] | undefined>;
  /** One character a byte. */
  body: string;
}

/** Sends a request with a known ID, so that replies can be compared as a whole. */
export async function send(
  base: string,
  target: string,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const asked = { method, headers: { "x-request-id": "a-test", ...headers } };
  const { status, headers: answered, bytes } = await sendRequest(new URL(base).origin, target, asked);
  const { date, connection, "keep-alive": keepAlive, ...rest } = answered;
  return { status, headers: rest, body: bytes.toString("latin1") };
}

/** Sends a request to where an answer redirects. */
export function follow({ headers }: Reply, base?: string): Promise<Reply> {
  const { origin, pathname, search } = new URL(String(headers.location), base);
  return send(origin, pathname + search);
}
