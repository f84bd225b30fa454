import { Agent } from "undici";

const agent = new Agent({ connections: 64, keepAliveTimeout: 10_000 });

export interface Asked {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * Sends a request and reads its answer to the end.
 *
 * @throws Error if the status is not the expected one
 */
export async function ask(
  url: string,
  headers: Record<string, string> = {},
  { status = 200, method = "GET", body }: { status?: number; method?: "GET" | "POST"; body?: string } = {},
): Promise<Asked> {
  const { origin, pathname, search } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname + search,
    method,
    headers,
    body: body ?? null,
  });
  const read = Buffer.from(await response.body.arrayBuffer());
  if (response.statusCode !== status) {
    throw new Error(`${url}: ${response.statusCode} ${read.toString("utf8", 0, 300)}`);
  }
  return { status, headers: response.headers, body: read };
}
