import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { send } from "../support/target.ts";
import { type Client, parseLines, parseRows, runClient, type TextRow } from "./clients.ts";
import { startTwoDataSets } from "./data-sets.ts";
import { type ProxyOptions, type ProxyRequest, type RecordingProxy, startProxy } from "./proxy.ts";

// Each example as a reader runs it, on a stack of its own with two data sets to publish in turn.

export let stack: Awaited<ReturnType<typeof startTwoDataSets>>;
export let directory: string;
export const json = { "content-type": "application/json" };
const proxies: RecordingProxy[] = [];

export function useTwoDataSets(): void {
  beforeAll(async () => {
    stack = await startTwoDataSets();
  });
  afterAll(() => stack.dispose());
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "single-audit-examples-"));
  });
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) proxy.close();
    await rm(directory, { recursive: true });
  });
}

export const inDirectory = (name: string) => path.join(directory, name);

export async function proxyTo(target: string, options: ProxyOptions = {}): Promise<RecordingProxy> {
  const proxy = await startProxy(target, options);
  proxies.push(proxy);
  return proxy;
}

/** A proxy to the API, which publishes the other data set before it asks for the page at this offset. */
export function swapBefore(offset: string, times = Number.POSITIVE_INFINITY): Promise<RecordingProxy> {
  let count = 0;
  const before = async ({ url }: ProxyRequest) => {
    if (url.searchParams.get("offset") !== offset || count === times) return;
    count += 1;
    await stack.swap();
  };
  return proxyTo(stack.facts.base_url, { before });
}

/** A proxy to the API that answers requests with these methods itself. */
export function refuse(
  status: number,
  headers: Record<string, string> = {},
  methods = ["GET", "POST"],
): Promise<RecordingProxy> {
  const answer: ProxyOptions["answer"] = ({ method }, response) => {
    const isRefused = methods.includes(method);
    if (isRefused) response.writeHead(status, { ...json, ...headers }).end('{"message":"not now"}');
    return isRefused;
  };
  return proxyTo(stack.facts.base_url, { answer });
}

/** Runs a client's command with an individual key. */
export function run(client: Client, args: string[], env: Record<string, string> = {}) {
  const { base_url, app_url, keys } = stack.facts;
  return runClient(client, args, {
    API_URL: base_url,
    APP_URL: app_url,
    API_KEY: keys.individual,
    PAGE_SIZE: "50",
    ...env,
  });
}

/** What the API answers in one piece. */
export async function ask(pathAndQuery: string, format: Client["format"]): Promise<string> {
  const accept = format === "csv" ? "text/csv" : "application/json";
  const headers = { accept, "x-api-key": stack.facts.keys.individual };
  const { status, text } = await send(stack.facts.base_url, pathAndQuery, { headers });
  expect(status, text).toBe(200);
  return text;
}

/** That a file which `walk` wrote holds the rows of the live data set, in order, and nothing else. */
export async function expectWholeTable(client: Client, file: string, table: string): Promise<void> {
  const [written, whole] = await Promise.all([readFile(file, "utf8"), ask(`/${table}`, client.format)]);
  if (client.format === "csv") expect(written).toBe(`${whole}\n`);
  else expect(parseLines(written)).toEqual(JSON.parse(whole));
}

export const sort = (rows: TextRow[]) =>
  rows.toSorted((one, other) => ((one.report_id ?? "") < (other.report_id ?? "") ? -1 : 1));

export const synced = "report_id,fac_accepted_date,audit_year,auditee_uei,auditee_name,total_amount_expended";
export const readPublic = async () =>
  parseRows(await ask(`/general?select=${synced}&is_public=is.true`, "csv"), "csv");

/** The command lines of all processes, as ps shows them. */
export function listCommands(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      } catch {
        // It has ended meanwhile.
        return "";
      }
    });
}
