import { send as sendRequest } from "../support/target.ts";

export interface Reply {
  status: number;
  /** Without the headers that differ between requests. */
  headers: Record<string, string | string[] | undefined>;
  /** Decoded as Latin-1: each character is one byte. */
  body: string;
}

/** Sends a request. Returns what does not differ between responses, so that whole responses can be compared. */
export async function send(
  base: string,
  target: string,
  { method = "GET", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const {
    status,
    headers: answered,
    bytes,
  } = await sendRequest(new URL(base).origin, target, {
    method,
    headers,
  });
  const { date, connection, "keep-alive": keepAlive, "x-request-id": requestId, ...rest } = answered;
  return { status, headers: rest, body: bytes.toString("latin1") };
}

/** Follows a redirect. A relative URL is resolved against `base`. */
export function follow({ headers }: Reply, base?: string): Promise<Reply> {
  const { origin, pathname, search } = new URL(String(headers.location), base);
  return send(origin, pathname + search);
}
