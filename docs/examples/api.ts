// Helpers for client.ts: requests with retries, pages from one data set, and files that are either complete or unchanged.

import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgrestSingleResponse } from "@supabase/postgrest-js";

export const {
  API_URL: apiUrl = "http://localhost:8000",
  APP_URL: appUrl = "http://localhost:8001",
  API_KEY: apiKey = "DEMO_KEY",
} = process.env;
export const pageSize = Number(process.env.PAGE_SIZE ?? 20_000);
/** The version of the API that this program was written for. */
const apiVersion = "v1_1_0";

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

/** Fetches. Retries after 429, and GET requests also after 5xx and after a lost connection. */
export async function send(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const isGet = (init.method ?? "GET") === "GET";
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === tries;
    let wait = 2 ** (attempt - 1);
    let problem: string;
    try {
      const answer = await fetch(input, { ...init, signal: AbortSignal.timeout(timeoutMilliseconds) });
      // Reads the whole body, so that an incomplete body counts as a lost connection.
      const complete = new Response(await answer.arrayBuffer(), answer);
      if (answer.status !== 429 && !(isGet && answer.status >= 500)) return complete;
      const retryAfter = answer.headers.get("retry-after") ?? "";
      if (/^\d+$/.test(retryAfter)) wait = Number(retryAfter);
      if (isLast || wait > longestWaitSeconds) return complete;
      problem = `${answer.status} ${answer.statusText}`;
    } catch (error) {
      problem = `no response from the service: ${findCause(error)}`;
      if (!isGet || isLast) throw new RequestFailed(0, problem);
    }
    say(`${problem} (again in ${wait} s)`);
    await sleep(wait * 1000);
  }
}

/** The message of fetch's error is "fetch failed"; its cause has the reason. */
function findCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return findCause(error.cause);
  return error.message || ("code" in error ? String(error.code) : error.name);
}

export function connect(ask = send) {
  return new PostgrestClient(apiUrl, {
    headers: { "x-api-key": apiKey },
    schema: `api_${apiVersion}`,
    retry: false,
    // Following a redirect would send the key to another host.
    fetch: (input, init) => ask(input, { ...init, redirect: "manual" }),
  });
}

/** Sends requests whose responses all come from one data set: sends the first ETag as If-Match with the others. */
export function sendToOneDataSet(dataSet?: string): typeof send {
  let etag: string | null = null;
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (etag !== null) headers.set("if-match", etag);
    const answer = await send(input, { ...init, headers });
    // "<id>"; published="<time>"
    const answered = answer.headers.get("data-set")?.split('"')[1];
    if (answer.ok && dataSet !== undefined && answered !== dataSet) {
      // The manifest of the bulk files is updated within seconds of a publication.
      await sleep(1000);
      return new Response('{"message":"The data set has changed."}', { status: 412 });
    }
    etag ??= answer.headers.get("etag");
    return answer;
  };
}

/**
 * A client whose responses all come from one data set, or from the given one. If another data set is published, requests
 * fail with 412: discard the rows read so far.
 */
export function connectToOneDataSet(dataSet?: string) {
  return connect(sendToOneDataSet(dataSet));
}

export function unwrap<Data>({ data, error, status }: PostgrestSingleResponse<Data>): Data {
  // postgrest-js puts the name of the error in front.
  if (error !== null)
    throw new RequestFailed(
      status,
      [error.message.replace(/^Error: /, ""), error.hint].filter(Boolean).join(" "),
    );
  return data;
}

export async function startAgainOnChange<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RequestFailed && error.status === 412)) throw error;
      say("A new data set was published. Starting again.");
    }
  }
  throw new Error(`A new data set was published during each of ${tries} tries.`);
}

/** Reads all pages. Unless `ask` requests a whole table, its order must end with columns that are unique together. */
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

/** Writes a temporary file and renames it, so that the file is either complete or unchanged. */
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
