import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import { pageSearches } from "./page-searches.ts";

/** What one request asked for, when it was due, in milliseconds of performance.now(), and how it ended. */
export interface Sample {
  kind: string;
  at: number;
  milliseconds: number;
  /** Status and error code, such as `200` or `503 api_busy`; or the error's name if no response came. */
  outcome: string;
}

export interface Request {
  kind: string;
  url: string;
  headers?: Record<string, string>;
}

export interface LoadOptions {
  baseUrl: string;
  appUrl: string;
  /** Keys of the API's clients, which share them evenly. */
  keys: string[];
  /** Public reports, with the auditee's UEI, for requests that name one. */
  reports: { report_id: string; auditee_uei: string }[];
  /** Requests that all readers of pages, and all clients of the API, send per second. Absent: each sends one after another. */
  rates?: { pages: number; api: number };
  /** Ends the load. */
  signal: AbortSignal;
  record: (sample: Sample) => void;
}

export const readers = { count: 64, addresses: 16 };
export const apiClients = { count: 128, addresses: 64 };

/**
 * Sends requests as many clients do, each from its own address of the loopback network (Linux), one at a time. With a rate, a
 * client sends at fixed times, and a request that had to wait for the previous one counts from when it was due.
 */
export async function sendLoad(options: LoadOptions): Promise<void> {
  const { rates, keys, signal } = options;
  setMaxListeners(0, signal);
  const pages = Array.from({ length: readers.count }, (_, number) =>
    runClient(options, {
      address: `127.1.0.${(number % readers.addresses) + 1}`,
      interval: rates && readers.count / rates.pages,
      choose: createReader(options),
    }),
  );
  const api = Array.from({ length: apiClients.count }, (_, number) =>
    runClient(options, {
      address: `127.2.0.${(number % apiClients.addresses) + 1}`,
      interval: rates && apiClients.count / rates.api,
      choose: createApiClient(options, keys[number % keys.length] ?? ""),
    }),
  );
  await Promise.all([...pages, ...api]);
}

/** Chooses the next request, and gets the headers of its response. */
type Choose = () => Request & { keep?: (headers: Record<string, unknown>) => void };

interface ClientOptions {
  address: string;
  /** Seconds between requests. */
  interval: number | undefined;
  choose: Choose;
}

async function runClient({ signal, record }: LoadOptions, { address, interval, choose }: ClientOptions) {
  const agent = new Agent({ connections: 1, localAddress: address });
  let due = performance.now() + Math.random() * 1000 * (interval ?? 1);
  while (!signal.aborted) {
    if (!(await pause(due - performance.now(), signal))) break;
    const { kind, url, headers = {}, keep } = choose();
    const start = interval === undefined ? performance.now() : due;
    const { outcome, retryAfter, received } = await send(agent, url, headers);
    keep?.(received);
    record({ kind, at: start, milliseconds: performance.now() - start, outcome });
    due = interval === undefined ? performance.now() + 1000 * retryAfter : due + 1000 * interval;
  }
  await agent.close();
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (milliseconds > 0) await sleep(milliseconds, undefined, { signal }).catch(() => {});
  return !signal.aborted;
}

async function send(agent: Agent, url: string, headers: Record<string, string>) {
  const { origin, pathname, search } = new URL(url);
  try {
    const response = await agent.request({ origin, path: pathname + search, method: "GET", headers });
    const { statusCode, headers: received } = response;
    const text = await response.body.text();
    const code = statusCode < 400 ? "" : ` ${/"code":\s*"(\w+)"/.exec(text)?.[1] ?? ""}`;
    const retryAfter = statusCode < 400 ? 0 : Number(received["retry-after"] ?? 1);
    return { outcome: `${statusCode}${code}`, retryAfter, received };
  } catch (error) {
    return { outcome: String((error as { code?: string }).code ?? error), retryAfter: 1, received: {} };
  }
}

const pick = <Item>(list: Item[]): Item => list[Math.floor(Math.random() * list.length)] as Item;

const words = [
  "procurement",
  "payroll",
  "late reporting",
  "segregation of duties",
  "subrecipient monitoring",
];
const programs = ["93.778", "84.010", "14.871", "10.555"];
const states = ["TX", "CA", "OH", "NY", "IA", "AL"];

export function createReader({ appUrl, reports }: Pick<LoadOptions, "appUrl" | "reports">): Choose {
  const page = (kind: string, path: string) => ({ kind: `page: ${kind}`, url: appUrl + path });
  return () => {
    const { report_id, auditee_uei } = pick(reports);
    const share = Math.random();
    if (share < 0.35) return page("search", `/search?q=${encodeURIComponent(pick(pageSearches))}`);
    if (share < 0.6) return page("record", `/record/${report_id}`);
    if (share < 0.75) return page("findings", `/findings?words=${encodeURIComponent(pick(words))}`);
    if (share < 0.85) return page("auditee", `/auditee/${auditee_uei}`);
    if (share < 0.95) return page("program", `/program/${pick(programs)}`);
    return page("state", `/state/${pick(states)}`);
  };
}

export function createApiClient(
  { baseUrl, reports }: Pick<LoadOptions, "baseUrl" | "reports">,
  key: string,
): Choose {
  const request = (kind: string, query: string, headers: Record<string, string> = {}) => ({
    kind: `API: ${kind}`,
    url: `${baseUrl}/${query}`,
    headers: { "x-api-key": key, ...headers },
  });
  let last: { query: string; etag: string } | undefined;
  return () => {
    const { report_id, auditee_uei } = pick(reports);
    const share = Math.random();
    if (share < 0.1 && last !== undefined)
      return request("lookup, unchanged", last.query, { "if-none-match": last.etag });
    if (share < 0.4) {
      const query = `general?report_id=eq.${report_id}`;
      const keep = ({ etag }: Record<string, unknown>) => {
        if (typeof etag === "string") last = { query, etag };
      };
      return { ...request("lookup", query), keep };
    }
    if (share < 0.55) return request("awards of a report", `federal_awards?report_id=eq.${report_id}`);
    if (share < 0.65) return request("reports of an auditee", `general?auditee_uei=eq.${auditee_uei}`);
    if (share < 0.8) {
      const offset = 100 * Math.floor(Math.random() * 1000);
      return request("page of 100", `federal_awards?limit=100&offset=${offset}`);
    }
    return request("filter, 100 rows", `${pick(filters)}&limit=100`);
  };
}

const filters = [
  "general?audit_year=eq.2022&auditee_state=eq.CA",
  "general?auditee_name=ilike.*county*",
  "general?fac_accepted_date=gte.2024-06-01&order=fac_accepted_date.desc",
  "general?order=total_amount_expended.desc",
  "federal_awards?federal_agency_prefix=eq.93&federal_award_extension=eq.778&audit_year=eq.2022",
  "federal_awards?select=report_id,amount_expended,general(auditee_name)&federal_agency_prefix=eq.20",
  "general?audit_year=eq.2023&select=report_id,findings(reference_number)&auditee_state=eq.TX",
  "findings_text?finding_text=fts.procurement",
  "findings?is_material_weakness=eq.Y&audit_year=eq.2023",
];
