// Helpers of client.ts: requests with retries, pages that come from one data set, and downloads that are complete or absent.

import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgrestSingleResponse } from "@supabase/postgrest-js";

export const {
  API_URL: apiUrl = "http://localhost:8000",
  APP_URL: appUrl = "http://localhost:8001",
  API_KEY: apiKey = "DEMO_KEY",
} = process.env;
export const pageSize = Number(process.env.PAGE_SIZE ?? 20_000);

const { PostgrestClient } = await import("@supabase/postgrest-js").catch(() => {
  say("error: @supabase/postgrest-js is not installed: npm install @supabase/postgrest-js");
  process.exit(1);
});

const tries = 5;
const timeoutMilliseconds = 90_000;
const longestWaitSeconds = 3600;

export class RequestFailed extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(status === 0 ? message : `${status}: ${message}`);
    this.status = status;
  }
}

/** Fetches, and fetches again after 429; GET also after 5xx and after a lost connection. */
export async function send(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const isGet = (init.method ?? "GET") === "GET";
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === tries;
    let wait = 2 ** (attempt - 1);
    let problem: string;
    try {
      const answer = await fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMilliseconds) });
      // All of it, so that a body that breaks off is a lost connection as well.
      const complete = new Response(await answer.arrayBuffer(), answer);
      if (answer.status !== 429 && !(isGet && answer.status >= 500)) return complete;
      const retryAfter = answer.headers.get("retry-after") ?? "";
      if (/^\d+$/.test(retryAfter)) wait = Number(retryAfter);
      if (isLast || wait > longestWaitSeconds) return complete;
      problem = `${answer.status} ${answer.statusText}`;
    } catch (error) {
      problem = `no answer from the service: ${findCause(error)}`;
      if (!isGet || isLast) throw new RequestFailed(0, problem);
    }
    say(`${problem} (again in ${wait} s)`);
    await sleep(wait * 1000);
  }
}

/** fetch says "fetch failed", and why in its cause. */
function findCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return findCause(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

export function connect(ask = send) {
  return new PostgrestClient(apiUrl, {
    headers: { "x-api-key": apiKey },
    schema: "api_v1_1_0",
    retry: false,
    // Followed, a redirect would take the key along.
    fetch: (input, init) => ask(input, { ...init, redirect: "manual" }),
  });
}

/** Sends requests whose answers are all of one data set: the ETag of the first goes as If-Match with the others. */
export function sendToOneDataSet(dataSet?: string): typeof send {
  let etag: string | null = null;
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (etag !== null) headers.set("if-match", etag);
    const answer = await send(input, { ...init, headers });
    // "<id>"; published="<time>"
    const answered = answer.headers.get("data-set")?.split('"')[1];
    if (answer.ok && dataSet !== undefined && answered !== dataSet) {
      // The bulk files' manifest follows a publication within seconds.
      await sleep(1000);
      return new Response('{"message":"The data set has changed."}', { status: 412 });
    }
    etag ??= answer.headers.get("etag");
    return answer;
  };
}

/**
 * A client whose answers are all of one data set: of this one, if it is named. They fail with 412 once another data
 * set is published, and what was read must be dropped.
 */
export function connectToOneDataSet(dataSet?: string) {
  return connect(sendToOneDataSet(dataSet));
}

export function unwrap<Data>({ data, error, status }: PostgrestSingleResponse<Data>): Data {
  // postgrest-js puts the name of what was thrown in front.
  if (error !== null) throw new RequestFailed(status, error.message.replace(/^Error: /, ""));
  return data;
}

export async function startAgainOnChange<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RequestFailed && error.status === 412)) throw error;
      say("A new data set was published meanwhile. Starting again.");
    }
  }
  throw new Error(`A new data set was published during each of ${tries} tries.`);
}

/** All pages. `ask` must name an order that ends in unique columns, unless it asks for a whole table. */
export async function* readPages<Row>(
  ask: (first: number, last: number) => PromiseLike<PostgrestSingleResponse<Row[]>>,
): AsyncGenerator<Row[]> {
  for (let offset = 0; ; ) {
    const page = unwrap(await ask(offset, offset + pageSize - 1));
    if (page.length === 0) return;
    yield page;
    offset += page.length;
  }
}

/** Writes a file by way of another, so that it is complete or as it was before. */
export async function replaceFile<Result>(
  file: string,
  write: (out: FileHandle) => Promise<Result>,
): Promise<Result> {
  const part = `${file}.${process.pid}.part`;
  const out = await open(part, "w");
  try {
    const result = await write(out).finally(() => out.close());
    await rename(part, file);
    return result;
  } finally {
    await rm(part, { force: true });
  }
}

export const formatLines = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
