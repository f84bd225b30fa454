import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { execute } from "../support/execute.ts";
import { makeDirectory } from "../support/make-directory.ts";
import { send } from "../support/target.ts";
import { type Client, parseLines, parseRows, readSynced, type TextRow } from "./clients.ts";
import { startTwoDataSets } from "./data-sets.ts";

// Runs the example clients as a reader would, on a separate stack with two data sets of which either can be live.

export let stack: Awaited<ReturnType<typeof startTwoDataSets>>;
export let directory: string;
export const json = { "content-type": "application/json" };
const closings: (() => void)[] = [];

export function useTwoDataSets(): void {
  beforeAll(async () => {
    stack = await startTwoDataSets();
  });
  afterAll(() => stack.dispose());
  beforeEach(async () => {
    directory = await makeDirectory();
  });
  afterEach(() => {
    for (const close of closings.splice(0)) close();
  });
}

export const inDirectory = (name: string) => path.join(directory, name);

interface ProxyRequest {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  /** The target's response status, once it has responded. */
  status?: number;
}

interface ProxyOptions {
  /** Runs before a request is forwarded. */
  before?: (request: ProxyRequest) => Promise<void> | void;
  /** Answers instead of the target, and returns whether it did. `count` is the number of requests before this one. */
  answer?: (request: ProxyRequest, response: ServerResponse, count: number) => boolean;
}

/** Starts a proxy that records requests in order and forwards them unchanged, unless the options say otherwise. */
export async function proxyTo(target: string, { before, answer }: ProxyOptions = {}) {
  const requests: ProxyRequest[] = [];
  const handle = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = "GET", headers } = incoming;
    const asked: ProxyRequest = { method, url: new URL(incoming.url ?? "/", target), headers };
    const count = requests.push(asked) - 1;
    await before?.(asked);
    if (answer?.(asked, response, count)) return;
    const outgoing = request(asked.url, { method, headers }, (answered) => {
      asked.status = answered.statusCode ?? 0;
      answered.pipe(response.writeHead(asked.status, answered.headers));
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  closings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Starts a proxy to the API that makes the other data set live before it first forwards a request with this offset. */
export function swapBefore(offset: string) {
  let isSwapped = false;
  return proxyTo(stack.facts.base_url, {
    before: async ({ url }) => {
      if (url.searchParams.get("offset") !== offset || isSwapped) return;
      isSwapped = true;
      await stack.swap();
    },
  });
}

/** Starts a proxy to the API that gives requests with these methods this error, and forwards all others. */
export const refuse = (
  status: number,
  headers: Record<string, string> = {},
  methods = ["GET", "POST"],
  message = "not now",
) =>
  proxyTo(stack.facts.base_url, {
    answer: ({ method }, response) => {
      const isRefused = methods.includes(method);
      if (isRefused) response.writeHead(status, { ...json, ...headers }).end(JSON.stringify({ message }));
      return isRefused;
    },
  });

/** Runs a client's command until it exits. The default environment has an individual key. */
export function run({ program }: Client, args: string[], env: Record<string, string> = {}) {
  const { base_url, app_url, keys } = stack.facts;
  const own = { API_URL: base_url, APP_URL: app_url, API_KEY: keys.individual, PAGE_SIZE: "50" };
  return execute([...program, ...args], { ...process.env, ...own, ...env });
}

/** Gets the API's response to one request, without paging. */
export async function ask(pathAndQuery: string, format: Client["format"]): Promise<string> {
  const accept = format === "csv" ? "text/csv" : "application/json";
  const headers = { accept, "x-api-key": stack.facts.keys.individual };
  const { status, text } = await send(stack.facts.base_url, pathAndQuery, { headers });
  expect(status, text).toBe(200);
  return text;
}

/** Expects a file that `walk` wrote to contain exactly the rows of the live data set, in order. */
export async function expectWholeTable(client: Client, file: string, table: string): Promise<void> {
  const [written, whole] = await Promise.all([readFile(file, "utf8"), ask(`/${table}`, client.format)]);
  if (client.format === "csv") expect(written).toBe(whole);
  else expect(parseLines(written)).toEqual(JSON.parse(whole));
}

const sort = (rows: TextRow[]) =>
  rows.toSorted((one, other) => ((one.report_id ?? "") < (other.report_id ?? "") ? -1 : 1));

/** Runs `sync`, and expects its file to contain the live data set's public reports. Returns them. */
export async function sync(client: Client, env: Record<string, string> = {}): Promise<TextRow[]> {
  const { code, stderr } = await run(client, ["sync", inDirectory("sync")], env);
  expect(code, stderr).toBe(0);
  const columns = "report_id,fac_accepted_date,audit_year,auditee_uei,auditee_name,total_amount_expended";
  const live = sort(parseRows(await ask(`/general?select=${columns}&is_public=is.true`, "csv"), "csv"));
  expect(sort(await readSynced(client, inDirectory("sync")))).toEqual(live);
  return live;
}
