import { randomInt } from "node:crypto";
import { Agent, type Dispatcher } from "undici";
import { queryOn } from "./query-on.ts";
import { findWorkerNumber, ofWorker } from "./workers.ts";

/** A variable of this worker's own stack, or else of the deployment that is given. */
const find = (name: string) => process.env[ofWorker(name, findWorkerNumber())] || process.env[name];

function read(name: string): string {
  const value = find(name);
  if (!value) throw new Error(`${name} is not set. Set it together with BASE_URL, or leave both unset.`);
  return value;
}

/** The deployment under test. */
export const target = {
  get baseUrl() {
    return read("API_URL");
  },
  get appUrl() {
    return read("APP_URL");
  },
  get databaseUrl() {
    return read("DATABASE_URL");
  },
  get postgrestUrl() {
    return read("POSTGREST_URL");
  },
  keys: {
    get demo() {
      return find("DEMO_KEY") || "DEMO_KEY";
    },
    get individual() {
      return read("INDIVIDUAL_KEY");
    },
    get tribal() {
      return read("TRIBAL_KEY");
    },
  },
};

export type KeyName = keyof typeof target.keys;
export const keyNames: KeyName[] = ["demo", "individual", "tribal"];

export interface Request {
  method?: string;
  /** One of the target's keys, any other key, or none. */
  key?: KeyName | { value: string };
  headers?: Record<string, string | string[]>;
  body?: string;
  /** Local address to send from. */
  from?: string;
}

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
  text: string;
  /** Parsed when it is asked for: answers of 50 MB take a while. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests assert its shape.
  json: any;
}

const agents = new Map<string, Agent>();

/** A loopback address that no other test sends from, so that limits by address do not meet. */
export function makeAddress(): string {
  return `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
}

const isLoopback = () => new URL(target.baseUrl).hostname.startsWith("127.");
/** Docker's published ports hide who asks: with FORWARD_ADDRESSES the gateway is told, as by a proxy that it trusts. */
const isForwarded = () => Boolean(process.env.FORWARD_ADDRESSES);

/** Sends a request to the gateway, its path and query exactly as given. */
export async function request(path: string, options: Request = {}): Promise<Answer> {
  return await send(target.baseUrl, path, options);
}

/** Sends a request to any address, its path and query exactly as given. Redirects are not followed. */
export async function send(
  origin: string,
  path: string,
  { method = "GET", key, headers = {}, body, from }: Request = {},
): Promise<Answer> {
  // The demonstration key is limited by address: each use comes from another one.
  const client = from ?? (key === "demo" && isLoopback() ? makeAddress() : "");
  const address = isForwarded() ? "" : client;
  const claimed = headers["x-forwarded-for"];
  const forwarded =
    isForwarded() && client !== "" ? { "x-forwarded-for": claimed ? `${claimed}, ${client}` : client } : {};
  let agent = agents.get(address);
  if (agent === undefined) {
    agent = new Agent({
      maxHeaderSize: 131_072,
      keepAliveTimeout: 1000,
      ...(address === "" ? {} : { localAddress: address }),
    });
    agents.set(address, agent);
  }
  const value = typeof key === "string" ? target.keys[key] : key?.value;
  const response = await agent.request({
    origin,
    path,
    method: method as Dispatcher.HttpMethod,
    headers: { ...(value === undefined ? {} : { "x-api-key": value }), ...headers, ...forwarded },
    body: body ?? null,
  });
  const bytes = Buffer.from(await response.body.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  let parsed: { json: unknown } | undefined;
  return {
    status: response.statusCode,
    headers: response.headers,
    bytes,
    text,
    get json() {
      parsed ??= { json: parseJson(text) };
      return parsed.json;
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A report ID of the data set, by what the deployment itself says of it. */
export async function findReport(isPublic: boolean): Promise<string> {
  const { json } = await request(`/general?is_public=eq.${isPublic}&select=report_id&limit=1`, {
    key: "individual",
  });
  const [row] = json;
  if (row === undefined) throw new Error(`The data set has no report with is_public = ${isPublic}.`);
  return row.report_id;
}

/** Runs SQL on the deployment's database, as its superuser. */
export const query = <Row extends object = Record<string, unknown>>(sql: string, values: unknown[] = []) =>
  queryOn<Row>(target.databaseUrl, sql, values);

/** The one value of a query. */
export async function queryValue<Value>(sql: string, values: unknown[] = []): Promise<Value> {
  const [row] = await query<Record<string, Value>>(sql, values);
  return Object.values(row ?? {})[0] as Value;
}
